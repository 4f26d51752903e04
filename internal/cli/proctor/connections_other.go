//go:build !unix

package proctor

// maxConnections is unbounded where open files are.
func maxConnections() int { return 0 }
