//go:build unix && !solaris && !illumos && !aix

package proctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// holdFolder takes the data folder for this server until release: a second one
// would record the first one's running episodes as failed, as those of a server
// that was killed. The lock ends with the process, however that ends, so nothing
// is left to be cleared away. Reading (export, replay) takes no lock.
func holdFolder(dir string) (release func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil // a store of the server's own
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s belongs to a server that is running; stop it first, or name another folder with --data", dir)
		return nil, errors.Join(err, f.Close())
	}
	// Any other error is a file system without locks, which is no reason to refuse.
	return f.Close, nil
}
