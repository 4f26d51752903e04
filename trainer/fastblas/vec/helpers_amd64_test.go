//go:build amd64 && !purego

package vec

import "testing"

// bothKernels runs f with each kind of assembly that this machine has and with
// the Go loops.
func bothKernels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if avx512 {
		t.Run("avx512", f)
	}
	if fast {
		t.Run("avx2", func(t *testing.T) {
			withoutAVX512(t)
			f(t)
		})
	}
	t.Run("go", func(t *testing.T) {
		old := fast
		fast = false
		t.Cleanup(func() { fast = old })
		f(t)
	})
}

// withoutAVX512 lets the rest of a test run with AVX2.
func withoutAVX512(t *testing.T) {
	t.Helper()
	old := avx512
	avx512 = false
	t.Cleanup(func() { avx512 = old })
}
