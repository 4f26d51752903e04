//go:build !purego

package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// fast says that the kernels of attention_amd64.s can run here.
var fast = vec.Assembly()

//go:noescape
func scoresKernel(s, q, kt *float32, ld, n, e int)

//go:noescape
func mixRowsKernel(out, p, v *float32, ld, n, e int)

//go:noescape
func addOuterKernel(dst *float32, ld int, p, x *float32, n, e int)

//go:noescape
func mulAddKernel(dst, x, y *float32, n int)
