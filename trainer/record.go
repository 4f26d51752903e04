package trainer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// Row is one line of metrics.jsonl.
type Row struct {
	Phase   string   `json:"phase"` // sft or rl
	Update  int      `json:"update"`
	Seconds float64  `json:"wall_seconds"`
	Values  rl.Stats `json:"values"`
}

// recorder keeps the metrics of a run: every row in memory, as JSON lines at
// once, as CSV and a curve at each flush.
type recorder struct {
	dir  string
	file *os.File
	rows []Row
}

// openRecorder continues the metrics of a run folder up to a state: rows after
// it belong to work that a resumed run does again.
func openRecorder(dir string, s State) (*recorder, error) {
	r := &recorder{dir: dir}
	path := filepath.Join(dir, "metrics.jsonl")
	old, err := ReadRows(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, row := range old {
		if row.Phase == s.Phase && row.Update <= s.Step || row.Phase == "sft" && s.Phase == "rl" {
			r.rows = append(r.rows, row)
		}
	}
	err = replaceFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, row := range r.rows {
			if err := e.Encode(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	if r.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	return r, nil
}

// ReadRows reads the metrics of a run folder.
func ReadRows(dir string) ([]Row, error) {
	data, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	var out []Row
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var row Row
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			break // a line cut by a crash is the last one
		}
		out = append(out, row)
	}
	return out, nil //nolint:nilerr // what is before the cut is whole
}

func (r *recorder) add(row Row) error {
	r.rows = append(r.rows, row)
	data, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("record metrics: %w", err)
	}
	if _, err := r.file.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("record metrics: %w", err)
	}
	return nil
}

// flush writes metrics.csv and curve.png.
func (r *recorder) flush(name string) error {
	columns := map[string]bool{}
	for _, row := range r.rows {
		for k := range row.Values {
			columns[k] = true
		}
	}
	names := sortedKeys(columns)
	err := replaceFile(filepath.Join(r.dir, "metrics.csv"), func(w io.Writer) error {
		c := csv.NewWriter(w)
		if err := c.Write(append([]string{"phase", "update", "wall_seconds"}, names...)); err != nil {
			return err
		}
		for _, row := range r.rows {
			line := []string{row.Phase, strconv.Itoa(row.Update), strconv.FormatFloat(row.Seconds, 'f', 2, 64)}
			for _, n := range names {
				v, ok := row.Values[n]
				if !ok {
					line = append(line, "")
					continue
				}
				line = append(line, strconv.FormatFloat(v, 'g', 8, 64))
			}
			if err := c.Write(line); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
	if err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return curve(filepath.Join(r.dir, "curve.png"), name, r.rows)
}

func (r *recorder) close() error { return r.file.Close() }
