//go:build (amd64 || arm64) && !purego

package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// fast says that the kernels of attention_amd64.s or attention_arm64.s can run here.
var fast = vec.Assembly()
