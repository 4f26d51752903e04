//go:build !cblas || !cgo

package openblas

// Available reports whether the library is linked.
const Available = false

// Start returns that there is no library.
func Start(int) string { return "not linked (build tag cblas)" }

// Sgemm panics: ask Available first.
func Sgemm(_, _ bool, _, _, _ int, _ []float32, _ int, _ []float32, _ int, _ float32, _ []float32, _ int) {
	panic("openblas: built without the tag cblas")
}
