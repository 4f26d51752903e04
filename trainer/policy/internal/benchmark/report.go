package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// save writes r to a file that loadReport reads.
func (r *report) save(path string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("save the report: %w", err)
	}
	return os.WriteFile(path, data, 0o644)
}

func loadReport(path string) (*report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return r, nil
}

// print writes the tables.
func (r *report) print(out io.Writer) {
	clock := "time"
	if r.CPU {
		clock = "processor time"
	}
	fmt.Fprintf(out, "Best of %d turns of every side, by %s; the sides took turns.\n\n", r.Rounds, clock)
	for i, s := range r.Sides {
		fmt.Fprintf(out, "%d. %s\n", i+1, s)
	}
	fmt.Fprint(out, "\nMeasured limits:\n\n| cores | float32 multiply-adds |")
	for _, s := range workingSets {
		fmt.Fprintf(out, " reads of %s |", s.name)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", 1+len(workingSets)))
	for _, l := range r.Limits {
		fmt.Fprintf(out, "| %d | %.1f GF/s |", l.Cores, l.Peak/1e9)
		for _, b := range l.Read {
			fmt.Fprintf(out, " %.0f GB/s |", b/1e9)
		}
		fmt.Fprintln(out)
	}
	r.table(out, false)
	r.table(out, true)
}

// table prints the training steps or the decoding runs.
func (r *report) table(out io.Writer, decode bool) {
	first := true
	for _, c := range r.Contests {
		if (c.Batch > 0) != decode {
			continue
		}
		if first {
			first = false
			r.head(out, decode)
		}
		peak := r.limitsOf(c.Threads).Peak
		ours := c.speed(c.Best[0])
		fmt.Fprintf(out, "| %v |", c.Size)
		if decode {
			fmt.Fprintf(out, " %d | %d | %.0f |", c.Batch, c.Threads, ours)
		} else {
			fmt.Fprintf(out, " %d | %.0f ms | %.0f | %.1f |", c.Threads, 1e3*c.Best[0].Seconds, ours, ours*c.flops()/1e9)
		}
		fmt.Fprintf(out, " %s |", percent(ours*c.flops(), peak))
		for i := range r.Sides[1:] {
			if c.Best[i+1].Absent {
				fmt.Fprint(out, " – | – | – |")
				continue
			}
			theirs := c.speed(c.Best[i+1])
			fmt.Fprintf(out, " %.0f | %s | %.2f |", theirs, percent(theirs*c.flops(), peak), ours/theirs)
		}
		fmt.Fprintln(out)
	}
}

func (r *report) head(out io.Writer, decode bool) {
	columns := []string{"model", "threads", "step", "tokens/s", "GF/s", "% of peak"}
	if decode {
		fmt.Fprintf(out, "\nSampling: prompts of %d tokens, each different, continued by %d sampled ones, the time after the prompt:\n\n", promptLen, sampled)
		columns = []string{"model", "sequences", "threads", "tokens/s", "% of peak"}
	} else {
		fmt.Fprintf(out, "\nTraining step: forward, backward, clipping and AdamW on %d sequences of %d tokens:\n\n", batch, context)
	}
	for i := range r.Sides[1:] {
		columns = append(columns, fmt.Sprintf("(%d) tokens/s", i+2), "% of peak", fmt.Sprintf("(1)/(%d)", i+2))
	}
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func percent(x, peak float64) string {
	if peak == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", 100*x/peak)
}
