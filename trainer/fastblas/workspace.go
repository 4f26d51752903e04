package fastblas

import "sync"

// The block sizes. kcMax belongs to the definition of the result (see the
// package comment); the others only to its speed.
const (
	mr    = 6    // rows of a tile
	nr    = 16   // columns of a tile and of a packed panel
	kcMax = 256  // a panel of b then fills half of a 32 KB first-level cache
	mcMax = 192  // rows of a packed at a time: 192 KB of the second level
	ncMax = 1024 // columns of b packed at a time: 1 MB of the third level
)

// A Workspace is the scratch memory of one multiplication at a time. A
// goroutine that multiplies often keeps its own; a nil *Workspace borrows one
// from a pool.
type Workspace struct {
	a []float32 // mcMax*kcMax packed rows
	b []float32 // ncMax*kcMax packed columns
}

// NewWorkspace returns a workspace, about 1.3 MB.
func NewWorkspace() *Workspace {
	return &Workspace{
		a: make([]float32, mcMax/mr*(mr*kcMax+8)),
		b: make([]float32, ncMax*kcMax),
	}
}

var workspaces = sync.Pool{New: func() any { return NewWorkspace() }}
