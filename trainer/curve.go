package trainer

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// curves are the lines of the picture: training reward and success, and what
// the held-out evaluations said, with their intervals.
var curves = []struct {
	metric, label string
	c             color.RGBA
	interval      bool
}{
	{"success_rate", "train success", color.RGBA{0x9a, 0xa5, 0xb1, 0xff}, false},
	{"reward_mean", "train reward", color.RGBA{0x5b, 0x8d, 0xef, 0xff}, false},
	{"eval_success_sampled", "held-out, temperature 1", color.RGBA{0xd9, 0x6b, 0x1f, 0xff}, true},
	{"eval_success_greedy", "held-out, greedy", color.RGBA{0x2f, 0x85, 0x5a, 0xff}, true},
}

// curve draws the reinforcement-learning part of a run over its updates.
func curve(path, name string, rows []Row) error {
	p := plot.New()
	p.Title.Text = name
	p.X.Label.Text = "update"
	p.Y.Label.Text = "share of 1"
	p.Y.Min, p.Y.Max = 0, 1
	p.Legend.Top = false
	p.Legend.Left = false
	p.Add(plotter.NewGrid())
	drawn := 0
	for _, l := range curves {
		var xy plotter.XYs
		var bars struct {
			plotter.XYs
			plotter.YErrors
		}
		for _, r := range rows {
			v, ok := r.Values[l.metric]
			if r.Phase != "rl" || !ok {
				continue
			}
			xy = append(xy, plotter.XY{X: float64(r.Update), Y: v})
			if l.interval {
				bars.XYs = append(bars.XYs, plotter.XY{X: float64(r.Update), Y: v})
				bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{v - r.Values[l.metric+"_low"], r.Values[l.metric+"_high"] - v})
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return fmt.Errorf("draw curve: %w", err)
		}
		line.Color, line.Width = l.c, vg.Points(1.6)
		p.Add(line)
		p.Legend.Add(l.label, line)
		if l.interval {
			b, err := plotter.NewYErrorBars(bars)
			if err != nil {
				return fmt.Errorf("draw curve: %w", err)
			}
			b.Color, b.Width = l.c, vg.Points(0.8)
			p.Add(b)
		}
		drawn++
	}
	if drawn == 0 {
		return nil
	}
	if err := p.Save(9*vg.Inch, 5*vg.Inch, path); err != nil {
		return fmt.Errorf("draw curve: %w", err)
	}
	return nil
}
