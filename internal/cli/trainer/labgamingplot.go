package trainer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"image/color"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// writeGamingCSV writes every point of every run.
func writeGamingCSV(path string, points []gamingPoint) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	lines := [][]string{{"arm", "seed", "update", "episodes", "reward", "edits_tests", "true_fixes"}}
	for _, p := range points {
		lines = append(lines, []string{p.arm, strconv.FormatUint(p.seed, 10), strconv.Itoa(p.update), strconv.Itoa(p.episodes), num(p.reward), num(p.edits), num(p.fixes)})
	}
	if err := w.WriteAll(lines); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}

// gamingLines are the lines of each panel.
var gamingLines = []struct {
	label func(gamingArm) string
	value func(gamingPoint) float64
	c     color.RGBA
}{
	{func(gamingArm) string { return "reward" }, func(p gamingPoint) float64 { return p.reward }, color.RGBA{0x5b, 0x8d, 0xef, 0xff}},
	{func(a gamingArm) string { return a.editsText }, func(p gamingPoint) float64 { return p.edits }, color.RGBA{0xc5, 0x30, 0x30, 0xff}},
	{func(gamingArm) string { return "true fixes" }, func(p gamingPoint) float64 { return p.fixes }, color.RGBA{0x2f, 0x85, 0x5a, 0xff}},
}

// drawGaming draws both arms side by side: thin, each run as it was; thick, the
// mean of the runs over a few neighbouring updates.
func drawGaming(path string, points []gamingPoint) (err error) {
	last := 1.0
	for _, x := range points {
		last = max(last, float64(x.episodes))
	}
	panels := make([]*plot.Plot, len(gamingArms))
	for i, arm := range gamingArms {
		p := plot.New()
		p.Title.Text = arm.env
		p.X.Label.Text = "episodes"
		p.Y.Label.Text = "share of episodes; reward"
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, last, 0, 1
		p.Legend.Top, p.Legend.Left = true, true
		p.Legend.YOffs = -vg.Points(6)
		p.Add(plotter.NewGrid())
		for k, l := range gamingLines {
			if err := gamingLine(p, points, arm, l.label(arm), l.value, l.c, k == 0); err != nil {
				return fmt.Errorf("draw curves: %w", err)
			}
		}
		panels[i] = p
	}
	img := vgimg.New(12*vg.Inch, 5*vg.Inch)
	canvases := plot.Align([][]*plot.Plot{panels}, draw.Tiles{
		Rows: 1, Cols: len(panels), PadX: vg.Points(24), PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(12),
	}, draw.New(img))
	for i, p := range panels {
		p.Draw(canvases[0][i])
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("draw curves: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(f); err != nil {
		return fmt.Errorf("draw curves: %w", err)
	}
	return nil
}

// gamingLine adds one figure of one arm.
func gamingLine(p *plot.Plot, points []gamingPoint, arm gamingArm, label string, value func(gamingPoint) float64, c color.RGBA, dashed bool) error {
	runs, at := map[uint64]plotter.XYs{}, map[int][]float64{}
	for _, x := range points {
		if x.arm == arm.name {
			runs[x.seed] = append(runs[x.seed], plotter.XY{X: float64(x.episodes), Y: value(x)})
			at[x.episodes] = append(at[x.episodes], value(x))
		}
	}
	pale := c
	pale.R, pale.G, pale.B = 255-(255-c.R)/3, 255-(255-c.G)/3, 255-(255-c.B)/3
	seeds := make([]uint64, 0, len(runs))
	for s := range runs {
		seeds = append(seeds, s)
	}
	slices.Sort(seeds)
	for _, s := range seeds {
		line, err := plotter.NewLine(runs[s])
		if err != nil {
			return err
		}
		line.Color, line.Width = pale, vg.Points(0.7)
		p.Add(line)
	}
	line, err := plotter.NewLine(smooth(at))
	if err != nil {
		return err
	}
	line.Color, line.Width = c, vg.Points(2)
	if dashed {
		line.Dashes = []vg.Length{vg.Points(6), vg.Points(4)}
	}
	p.Add(line)
	p.Legend.Add(label, line)
	return nil
}

// smooth is the mean of the values at each x and its two neighbours on both
// sides.
func smooth(at map[int][]float64) plotter.XYs {
	xs := make([]int, 0, len(at))
	for x := range at {
		xs = append(xs, x)
	}
	slices.Sort(xs)
	var out plotter.XYs
	for i, x := range xs {
		sum, n := 0.0, 0
		for _, k := range xs[max(0, i-2):min(len(xs), i+3)] {
			for _, v := range at[k] {
				sum += v
				n++
			}
		}
		out = append(out, plotter.XY{X: float64(x), Y: sum / float64(n)})
	}
	return out
}
