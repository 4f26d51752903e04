package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// The decodings that a policy is judged at.
const (
	Greedy  = "greedy"
	Sampled = "sampled" // temperature 1
)

// Figure is a success rate with its 95 % interval: Wilson's for one episode a
// task, clustered by task for several.
type Figure struct {
	Tasks   int     `json:"tasks"`
	Passed  int     `json:"passed"`
	Rate    float64 `json:"rate"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Invalid int     `json:"invalid,omitempty"` // episodes excluded because our side failed
}

// Evaluation is the outcome of one evaluation.
type Evaluation struct {
	Label    string                       `json:"label"`
	Split    string                       `json:"split"`
	Update   int                          `json:"update"`
	Overall  map[string]Figure            `json:"overall"` // by decoding
	Slices   map[string]map[string]Figure `json:"slices"`  // by decoding, then slice
	Kinds    map[string]map[string]Figure `json:"kinds"`   // by decoding, then kind of task
	Outcomes []Outcome                    `json:"outcomes"`

	samples []rollout.Episode
}

// Outcome is what became of one task, for comparing policies task by task.
type Outcome struct {
	TaskID   string             `json:"task_id"`
	Slice    string             `json:"slice"`
	Kind     string             `json:"kind"`
	Decoding map[string]float64 `json:"passed"` // share of passed episodes by decoding
}

// evalStream separates the random streams of evaluations from those of
// training. It does not hold the update, so that every policy of a run is
// judged with the same draws.
const evalStream = 1 << 62

// evaluate plays tasks greedily and at temperature 1.
func (t *Trainer) evaluate(ctx context.Context, label, split string, tasks []api.Task) (Evaluation, error) {
	ev := Evaluation{
		Label: label, Split: split, Update: t.state.Step, Overall: map[string]Figure{},
		Slices: map[string]map[string]Figure{}, Kinds: map[string]map[string]Figure{},
	}
	for _, task := range tasks {
		ev.Outcomes = append(ev.Outcomes, Outcome{TaskID: task.TaskID, Slice: sliceOf(task.Public), Kind: kindOf(task.Public), Decoding: map[string]float64{}})
	}
	for _, decoding := range []string{Greedy, Sampled} {
		n, temperature := 1, float32(0)
		if decoding == Sampled {
			n, temperature = t.cfg.Eval.Samples, 1
		}
		var jobs []rollout.Job
		for i, task := range tasks {
			for k := range n {
				jobs = append(jobs, rollout.Job{TaskID: task.TaskID, Seed: int64(i), Task: uint64(i), Member: uint64(k)})
			}
		}
		t.model.player.Refresh()
		episodes, _, err := t.collector.Play(ctx, t.model.player, policy.StreamKey{Seed: t.cfg.Seed, Update: evalStream}, policy.SampleConfig{Temperature: temperature}, jobs)
		if err != nil {
			return ev, fmt.Errorf("evaluate %s: %w", label, err)
		}
		all := &tally{}
		slicesOf, kindsOf := map[string]*tally{}, map[string]*tally{}
		for i := range tasks {
			o := &ev.Outcomes[i]
			row, bad := []float64{}, 0
			for k := range n {
				e := &episodes[i*n+k]
				if !e.Valid {
					bad++
					continue
				}
				if e.Passed {
					row = append(row, 1)
				} else {
					row = append(row, 0)
				}
			}
			if len(row) > 0 {
				o.Decoding[decoding], _ = rl.MeanStd(row, 0)
			}
			all.add(row, bad)
			at(slicesOf, o.Slice).add(row, bad)
			at(kindsOf, o.Kind).add(row, bad)
		}
		ev.Overall[decoding] = all.figure()
		ev.Slices[decoding], ev.Kinds[decoding] = figures(slicesOf), figures(kindsOf)
		if decoding == Sampled {
			ev.samples = pickSamples(episodes, t.cfg.Output.Samples)
		}
	}
	return ev, nil
}

// tally gathers the episodes of tasks.
type tally struct {
	rows    [][]float64
	invalid int
}

func (t *tally) add(row []float64, invalid int) {
	t.invalid += invalid
	if len(row) > 0 {
		t.rows = append(t.rows, row)
	}
}

func at(m map[string]*tally, k string) *tally {
	if m[k] == nil {
		m[k] = &tally{}
	}
	return m[k]
}

func figures(m map[string]*tally) map[string]Figure {
	out := map[string]Figure{}
	for k, v := range m {
		out[k] = v.figure()
	}
	return out
}

func (t *tally) figure() Figure {
	f := Figure{Tasks: len(t.rows), Invalid: t.invalid}
	single, episodes := true, 0
	for _, r := range t.rows {
		single = single && len(r) == 1
		for _, x := range r {
			f.Passed += int(x)
			episodes++
		}
	}
	if episodes == 0 {
		f.High = 1
		return f
	}
	f.Rate = float64(f.Passed) / float64(episodes)
	if single {
		f.Low, f.High = rl.Wilson(f.Passed, episodes)
		return f
	}
	se := rl.ClusteredSE(t.rows)
	f.Low, f.High = math.Max(0, f.Rate-1.96*se), math.Min(1, f.Rate+1.96*se)
	return f
}

// pickSamples takes n episodes from all over the list.
func pickSamples(episodes []rollout.Episode, n int) []rollout.Episode {
	n = min(n, len(episodes))
	out := make([]rollout.Episode, 0, n)
	for i := range n {
		out = append(out, episodes[i*len(episodes)/n])
	}
	return out
}

// sliceOf and kindOf read the public labels of a task.
func sliceOf(public map[string]any) string {
	if s, ok := public["slice"].(string); ok {
		return s
	}
	return "all"
}

func kindOf(public map[string]any) string {
	s, ok := public["kind"].(string)
	if !ok {
		return "task"
	}
	if h, ok := public["hops"].(float64); ok {
		s = fmt.Sprintf("%s-%d", s, int(h))
	}
	return s
}

// tasksOf lists tasks of a split: up to perSlice of each slice after the first
// skip of it, in the server's order.
func (t *Trainer) tasksOf(ctx context.Context, split string, skip, perSlice int) ([]api.Task, error) {
	if perSlice == 0 {
		return nil, nil
	}
	// Slices come mixed, so a few times as many as needed hold enough of each.
	for limit := 4 * (skip + perSlice); ; limit *= 4 {
		all, err := t.catalogue.Tasks(ctx, t.cfg.Env.Type, split, limit)
		if err != nil {
			return nil, fmt.Errorf("list tasks of %s: %w", split, err)
		}
		count := map[string]int{}
		var out []api.Task
		for _, task := range all {
			s := sliceOf(task.Public)
			if count[s]++; count[s] > skip && count[s] <= skip+perSlice {
				out = append(out, task)
			}
		}
		short := len(count) == 0
		for _, n := range count {
			short = short || n < skip+perSlice
		}
		if !short || len(all) < limit {
			if len(out) == 0 {
				return nil, fmt.Errorf("split %s of %s has no tasks after the first %d of a slice", split, t.cfg.Env.Type, skip)
			}
			return out, nil
		}
	}
}

// values are the figures of an evaluation under metric names.
func (e Evaluation) values(prefix string) rl.Stats {
	s := rl.Stats{}
	for decoding, f := range e.Overall {
		name := prefix + "_success_" + decoding
		s[name], s[name+"_low"], s[name+"_high"] = f.Rate, f.Low, f.High
		for slice, f := range e.Slices[decoding] {
			s[name+"/"+slice] = f.Rate
		}
		for kind, f := range e.Kinds[decoding] {
			s[name+"/"+kind] = f.Rate
		}
	}
	return s
}

// save writes the evaluation and its samples into the run folder.
func (e Evaluation) save(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "eval"), 0o755); err != nil {
		return fmt.Errorf("save evaluation: %w", err)
	}
	if err := replaceFile(filepath.Join(dir, "eval", e.Label+".json"), writeJSON(e)); err != nil {
		return fmt.Errorf("save evaluation: %w", err)
	}
	return saveEpisodes(filepath.Join(dir, "samples", e.Label+".jsonl"), e.samples)
}

// saveEpisodes writes episodes as JSON lines and, beside them, as text.
func saveEpisodes(path string, episodes []rollout.Episode) error {
	if len(episodes) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save episodes: %w", err)
	}
	err := replaceFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for i := range episodes {
			if err := enc.Encode(&episodes[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save episodes: %w", err)
	}
	for i := range episodes {
		e := &episodes[i]
		name := fmt.Sprintf("%s_%d.txt", path[:len(path)-len(filepath.Ext(path))], i+1)
		err := replaceFile(name, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "task %s  reward %g  %s\n\n%s", e.TaskID, e.Reward, e.Status, rollout.Text(e.Turns, e.Final))
			return err
		})
		if err != nil {
			return fmt.Errorf("save episodes: %w", err)
		}
	}
	return nil
}

// LoadEvaluation reads an evaluation of a run folder.
func LoadEvaluation(dir, label string) (e Evaluation, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "eval", label+".json"))
	if err != nil {
		return e, fmt.Errorf("load evaluation: %w", err)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("load evaluation: %w", err)
	}
	return e, nil
}

// paired are the outcomes of tasks that both evaluations have.
func paired(a, b Evaluation, decoding string) (x, y []float64) {
	in := map[string]float64{}
	for _, o := range a.Outcomes {
		if v, ok := o.Decoding[decoding]; ok {
			in[o.TaskID] = v
		}
	}
	for _, o := range b.Outcomes {
		if v, ok := o.Decoding[decoding]; ok {
			if w, ok := in[o.TaskID]; ok {
				x, y = append(x, w), append(y, v)
			}
		}
	}
	return x, y
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
