//go:build !purego

package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// fast says that the kernels of attention_amd64.s can run here.
var fast = vec.Assembly()
