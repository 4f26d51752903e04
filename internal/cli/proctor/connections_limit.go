//go:build linux || darwin

package proctor

import "syscall"

// maxConnections is how many connections the process's limit of open files
// leaves room for.
func maxConnections() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 0 // no bound of ours
	}
	most := min(lim.Cur, 1<<20)
	return int(max(most-min(most, reservedFiles(most)), 8)) // at most 1<<20
}
