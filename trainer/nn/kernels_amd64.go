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
func mixPairKernel(out, p *float32, ps int, v0a, v0b, va, vb *float32, n0, n int)

//go:noescape
func mulAddKernel(dst, x, y *float32, n int)
