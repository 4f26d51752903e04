//go:build !purego

package vec

import "testing"

// bothKernels runs f with the assembly and with the Go loops.
func bothKernels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("neon", f)
	t.Run("go", func(t *testing.T) {
		fast = false
		t.Cleanup(func() { fast = true })
		f(t)
	})
}
