//go:build (!amd64 && !arm64) || purego

package vec

import "testing"

func bothKernels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("go", f)
}
