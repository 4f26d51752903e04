//go:build !amd64 || purego

package machine

// Peak returns 0: there is no kernel for this machine.
func Peak(_, _ int) float64 { return 0 }

// Bandwidth returns 0: there is no kernel for this machine.
func Bandwidth(_, _, _ int) float64 { return 0 }
