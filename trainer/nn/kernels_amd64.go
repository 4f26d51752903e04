//go:build !purego

package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// fast says that the kernels of attention_amd64.s can run here.
var fast = vec.Assembly()

//go:noescape
func scoresKernel(s, q, kp *float32, n, e int)

//go:noescape
func mixRowsKernel(out, p, v0, v *float32, ld, n0, n, e int)

//go:noescape
func addOuterKernel(dst *float32, ld int, p, x *float32, n, e int)

//go:noescape
func addOuter4Kernel(dst *float32, ld int, p *float32, ldp int, x *float32, ldx, n, e int)

//go:noescape
func mulAddKernel(dst, x, y *float32, n int)
