package trainer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/trainer/optim"
)

// State is what a checkpoint holds beside parameters, moments and tokenizer.
// All randomness of a run is a function of the seed and these counters.
type State struct {
	Version    int       `json:"version"`
	Phase      string    `json:"phase"` // sft or rl
	Step       int       `json:"step"`  // steps of the warm start, or updates, made so far
	Policy     string    `json:"policy"`
	Params     string    `json:"params_sha256"`
	Reference  string    `json:"reference_sha256,omitempty"`
	Algorithm  []float64 `json:"algorithm,omitempty"` // what the algorithm carries from update to update
	Best       float64   `json:"best"`
	BestUpdate int       `json:"best_update"`
	HasBest    bool      `json:"has_best"`
	Episodes   int       `json:"episodes"`
	Seconds    float64   `json:"seconds"` // of work, over all parts of the run
	RLSeconds  float64   `json:"rl_seconds"`
	Tokens     int       `json:"tokens"`
}

// stateVersion is the format of checkpoints.
const stateVersion = 1

// The files of a checkpoint.
const (
	stateFile  = "state.json"
	policyFile = "policy.safetensors"
	optimFile  = "optimizer.bin"
	tokensFile = "tokenizer.json"

	averageFile = "average.bin" // with rl.average
)

// writeDir makes a folder appear whole or not at all: its files are written to
// a folder beside it, flushed, and renamed into place.
func writeDir(dir string, files map[string]func(io.Writer) error) error {
	tmp := dir + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return err
	}
	for name, write := range files {
		if err := writeFile(filepath.Join(tmp, name), write); err != nil {
			return err
		}
	}
	old := dir + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// writeFile writes and flushes one file.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replaceFile writes a file beside path and renames it into place.
func replaceFile(path string, write func(io.Writer) error) error {
	if err := writeFile(path+".tmp", write); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func writeJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}

func writeFloats(w io.Writer, x []float32) error {
	var buf [4096]byte
	for len(x) > 0 {
		n := min(len(x), len(buf)/4)
		for i, v := range x[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		if _, err := w.Write(buf[:4*n]); err != nil {
			return err
		}
		x = x[n:]
	}
	return nil
}

// readFloats fills x. A value that is not finite is an error: training from it
// would not fail, only never learn.
func readFloats(r io.Reader, x []float32) error {
	buf := make([]byte, 4*len(x))
	if _, err := io.ReadFull(r, buf); err != nil {
		return err
	}
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		if x[i]-x[i] != 0 {
			return fmt.Errorf("value %d is not finite", i)
		}
	}
	return nil
}

// readHead reads the two numbers after a magic word.
func readHead(r io.Reader, magic string) (count, length int, err error) {
	head := make([]byte, len(magic)+16)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, 0, err
	}
	count = int(binary.LittleEndian.Uint64(head[len(magic):]))
	length = int(binary.LittleEndian.Uint64(head[len(magic)+8:]))
	if string(head[:len(magic)]) != magic || count < 0 || length < 0 {
		return 0, 0, errors.New("not such a file")
	}
	return count, length, nil
}

// readEnd wants nothing more.
func readEnd(r io.Reader) error {
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("something follows the last value")
}

const optimMagic = "PRCTADM1"

func writeOptimizer(a *optim.AdamW) func(io.Writer) error {
	return func(w io.Writer) error {
		head := binary.LittleEndian.AppendUint64([]byte(optimMagic), uint64(a.T))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(a.M)))
		if _, err := w.Write(head); err != nil {
			return err
		}
		return errors.Join(writeFloats(w, a.M), writeFloats(w, a.V))
	}
}

func readOptimizer(path string, a *optim.AdamW) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	if err := decodeOptimizer(bufio.NewReaderSize(f, 1<<20), a); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func decodeOptimizer(r io.Reader, a *optim.AdamW) error {
	steps, n, err := readHead(r, optimMagic)
	if err == nil && n != len(a.M) {
		err = fmt.Errorf("an optimizer of %d parameters, not of %d", n, len(a.M))
	}
	if err == nil {
		err = readFloats(r, a.M)
	}
	if err == nil {
		err = readFloats(r, a.V)
	}
	if err == nil {
		err = readEnd(r)
	}
	a.T = steps
	return err
}

// checkpoint writes ckpt/<phase>_<step>, points ckpt/last at it and drops old
// ones.
func (t *Trainer) checkpoint() error {
	name := fmt.Sprintf("%s_%06d", t.state.Phase, t.state.Step)
	t.state.Version, t.state.Policy, t.state.Params = stateVersion, t.model.kind, paramsHash(t.model)
	t.state.Algorithm = nil
	if s, ok := t.algorithm.(stateful); ok {
		t.state.Algorithm = s.State()
	}
	files := map[string]func(io.Writer) error{
		stateFile: writeJSON(t.state), policyFile: t.model.save, optimFile: writeOptimizer(t.step.Adam),
	}
	if t.model.tokens != nil {
		files[tokensFile] = t.model.tokens.Save
	}
	if t.average != nil {
		files[averageFile] = t.average.write
	}
	dir := filepath.Join(t.dir, "ckpt")
	if err := writeDir(filepath.Join(dir, name), files); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	err := replaceFile(filepath.Join(dir, "last"), func(w io.Writer) error {
		_, err := io.WriteString(w, name+"\n")
		return err
	})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return t.dropOld(dir, name)
}

// dropOld keeps the newest checkpoints.
func (t *Trainer) dropOld(dir, newest string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.Contains(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	// The warm start sorts before everything of the phase after it.
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	for i, n := range names {
		if len(names)-i > t.cfg.Output.Keep && n != newest {
			if err := os.RemoveAll(filepath.Join(dir, n)); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
		}
	}
	return nil
}

func order(name string) string {
	if strings.HasPrefix(name, "sft") {
		return "0" + name
	}
	return "1" + name
}

// stateful is implemented by algorithms that carry something between updates.
type stateful interface {
	State() []float64
	SetState([]float64)
}

// readState reads the state of the newest checkpoint and where it is; ok is
// false where there is none.
func readState(dir string) (s State, at string, ok bool, err error) {
	name, err := os.ReadFile(filepath.Join(dir, "ckpt", "last"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, "", false, nil
	}
	if err != nil {
		return s, "", false, fmt.Errorf("resume: %w", err)
	}
	at = filepath.Join(dir, "ckpt", strings.TrimSpace(string(name)))
	data, err := os.ReadFile(filepath.Join(at, stateFile))
	if err != nil {
		return s, "", false, fmt.Errorf("resume: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, "", false, fmt.Errorf("resume %s: %w", at, err)
	}
	if s.Version != stateVersion {
		return s, "", false, fmt.Errorf("resume %s: checkpoint version %d, this program reads %d", at, s.Version, stateVersion)
	}
	return s, at, true, nil
}
