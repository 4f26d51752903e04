package server

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// What a client sends is held in memory until it is served, and what is sent to
// it until it reads. Both are bounded in bytes: bounds in frames and connections
// alone let one client with large ones take all the memory there is.
const (
	freeBytes    = 64 << 10 // of each body or frame, which the number of connections bounds
	minAllowance = 256 << 20
	retryLarge   = 200 * time.Millisecond
	maxUnread    = 16 << 20 // of one socket, but for a single longer frame
)

// allowance bounds the bytes of an owner's large bodies and frames that come in
// or are being served. Each owner has its own.
type allowance struct {
	most int64

	mu   sync.Mutex
	held map[string]int64
}

func newAllowance(most int64) *allowance { return &allowance{most: most, held: map[string]int64{}} }

// take has n more bytes held for an owner, where there is room.
func (a *allowance) take(owner string, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held[owner]+n > a.most {
		return false
	}
	a.held[owner] += n
	return true
}

// give undoes take.
func (a *allowance) give(owner string, n int64) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held[owner] -= n; a.held[owner] == 0 {
		delete(a.held, owner)
	}
}

// errAllowance says that an owner's allowance is used up.
var errAllowance = errors.New("the owner has too much under way")

// read reads all of r. Its memory grows with what comes, and what it has beyond
// the free part is taken from the owner's allowance; the caller gives cost back
// once the bytes are done with, also after an error.
func (a *allowance) read(r io.Reader, owner string, expect int64) (b []byte, cost int64, err error) {
	b = make([]byte, 0, min(max(expect+1, 512), freeBytes))
	for {
		if len(b) == cap(b) {
			grow := int64(cap(b))
			if 2*grow > freeBytes {
				if !a.take(owner, grow) {
					return b, cost, errAllowance
				}
				cost += grow
			}
			b = append(make([]byte, 0, 2*grow), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, cost, nil
		}
		if err != nil {
			return b, cost, err
		}
	}
}

// refused is the answer where an allowance is used up.
func (a *allowance) refused() error {
	e := refusal(api.ProblemCodeRateLimited, fmt.Sprintf("large requests of one owner that are under way may hold %d bytes", a.most))
	e.Retryable, e.RetryAfter = true, retryLarge
	return e
}
