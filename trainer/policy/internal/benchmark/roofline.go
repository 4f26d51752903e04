package main

import (
	"fmt"
	"math"
	"strings"
)

// The plot spans these powers of two.
const (
	left, right  = -2, 9 // operations a byte
	bottom, high = 0, 8  // GF/s
	cell         = 64    // pixels for a power of two
)

func px(x float64) float64 { return 60 + cell*(math.Log2(x)-left) }
func py(y float64) float64 { return 20 + cell*(high-math.Log2(y/1e9)) }

// roofline draws the contests below the limits of the cores as SVG: this
// project's training steps red, its decoding blue, filled for two threads; the
// opponents' grey.
func (r *report) roofline() []byte {
	var s strings.Builder
	x0, x1, y0 := math.Exp2(left), math.Exp2(right), py(1e9)
	w, h := px(x1)+130, y0+50
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", w, h)
	fmt.Fprintf(&s, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", w, h)
	line := func(x1, y1, x2, y2 float64, color string) {
		fmt.Fprintf(&s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, color)
	}
	text := func(x, y float64, anchor, t string) {
		fmt.Fprintf(&s, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, t)
	}
	for e := left; e <= right; e++ {
		x := px(math.Exp2(float64(e)))
		line(x, 20, x, y0, "#eee")
		text(x, y0+16, "middle", fmt.Sprintf("%g", math.Exp2(float64(e))))
	}
	for e := bottom; e <= high; e++ {
		y := py(1e9 * math.Exp2(float64(e)))
		line(px(x0), y, px(x1), y, "#eee")
		text(px(x0)-6, y+4, "end", fmt.Sprintf("%g", math.Exp2(float64(e))))
	}
	text(px(math.Exp2((left+right)/2.0)), y0+36, "middle", "operations for each byte that must move")
	text(px(x0)-6, 14, "start", "GF/s")
	for _, l := range r.Limits {
		if l.Peak == 0 {
			continue
		}
		line(px(x0), py(l.Peak), px(x1), py(l.Peak), "#000")
		text(px(x1)+4, py(l.Peak)+4, "start", fmt.Sprintf("peak of %d: %.0f GF/s", l.Cores, l.Peak/1e9))
		// The levels that weights and caches of these models lie in.
		for i := 2; i < len(workingSets); i++ {
			b := l.Read[i]
			from := max(x0, 1e9/b)
			line(px(from), py(from*b), px(l.Peak/b), py(l.Peak), "#888")
			text(px(from)+4, py(from*b)-4, "start", fmt.Sprintf("%s, %d: %.0f GB/s", workingSets[i].name, l.Cores, b/1e9))
		}
	}
	dot := func(c *contest, side int, color string) {
		if c.Best[side].Absent {
			return
		}
		fill := "none"
		if c.Threads > 1 {
			fill = color
		}
		fmt.Fprintf(&s, `<circle cx="%.1f" cy="%.1f" r="4" stroke="%s" fill="%s" fill-opacity="0.6"><title>%v, %s %d, %d threads, %s</title></circle>`+"\n",
			px(c.intensity()), py(c.speed(c.Best[side])*c.flops()), color, fill, c.Size, c.what(), c.Batch, c.Threads, r.Sides[side])
	}
	for _, c := range r.Contests {
		for i := len(r.Sides) - 1; i > 0; i-- {
			dot(c, i, "#999")
		}
		color := "#c33"
		if c.Batch > 0 {
			color = "#36c"
		}
		dot(c, 0, color)
	}
	s.WriteString("</svg>\n")
	return []byte(s.String())
}

// intensity is the operations of c for each byte that it must move at least.
func (c *contest) intensity() float64 {
	if c.Batch == 0 {
		return c.Size.trainFlops() / c.Size.trainBytes()
	}
	return float64(c.Batch) * c.Size.decodeFlops() / c.Size.decodeBytes(c.Batch)
}
