package trainer

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// average is the mean of the policies that a run went through since its warm
// start, the warm start included. Every update moves what the rewards of the
// training tasks speak of, and by chance also what they do not; the chance
// cancels in the mean. It is what the run judges and keeps where rl.average is
// set, while the episodes are still played by the newest policy.
//
// Source: Polyak and Juditsky (1992); Wortsman et al. (2022) for fine-tuned
// networks away from their training distribution.
type average struct {
	mean []float32
	n    int // policies in the mean
}

// newAverage is the mean of one policy.
func newAverage(params []float32) *average {
	return &average{mean: append([]float32(nil), params...), n: 1}
}

// add takes in another policy.
func (a *average) add(params []float32) {
	a.n++
	w := 1 / float32(a.n)
	for i, p := range params {
		a.mean[i] += w * (p - a.mean[i])
	}
}

// swap exchanges the mean and params; twice is nothing.
func (a *average) swap(params []float32) {
	for i, p := range params {
		params[i], a.mean[i] = a.mean[i], p
	}
}

// averaged runs f with the mean of the policies in place of the newest one.
func (t *Trainer) averaged(f func() error) error {
	if t.average == nil {
		return f()
	}
	t.average.swap(t.model.Params())
	defer t.average.swap(t.model.Params())
	return f()
}

const averageMagic = "PRCTAVG1"

func (a *average) write(w io.Writer) error {
	head := binary.LittleEndian.AppendUint64([]byte(averageMagic), uint64(a.n))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(a.mean)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeFloats(w, a.mean)
}

// readAverage reads the mean that belongs to a checkpoint of params.
func readAverage(dir string, params []float32) (*average, error) {
	f, err := os.Open(filepath.Join(dir, averageFile))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	a, err := decodeAverage(bufio.NewReaderSize(f, 1<<20), len(params))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return a, nil
}

func decodeAverage(r io.Reader, params int) (*average, error) {
	count, n, err := readHead(r, averageMagic)
	if err == nil && n != params {
		err = fmt.Errorf("a mean of %d parameters, not of %d", n, params)
	}
	if err != nil {
		return nil, err
	}
	a := &average{mean: make([]float32, params), n: count}
	if err := readFloats(r, a.mean); err != nil {
		return nil, err
	}
	return a, readEnd(r)
}
