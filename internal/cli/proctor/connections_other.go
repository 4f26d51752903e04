//go:build !linux && !darwin

package proctor

// maxConnections is unbounded where we do not know the limit of open files.
func maxConnections() int { return 0 }
