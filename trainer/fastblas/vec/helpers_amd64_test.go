//go:build amd64 && !purego

package vec

import "testing"

// bothKernels runs f with the assembly and with the Go loops.
func bothKernels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if avx2 {
		t.Run("avx2", f)
	}
	t.Run("go", func(t *testing.T) {
		old := avx2
		avx2 = false
		t.Cleanup(func() { avx2 = old })
		f(t)
	})
}
