package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// point is one product: how many operations it does for each byte it must
// move at least, and how fast it was.
type point struct {
	intensity, speed float64
	thin             bool
}

// level is the bandwidth of one level of memory.
type level struct {
	name  string
	bytes float64 // a second
}

// The plot spans these powers of two.
const (
	left, right  = -2, 9 // operations a byte
	bottom, high = 0, 7  // GF/s
	cell         = 64    // pixels for a power of two
)

func px(x float64) float64 { return 60 + cell*(math.Log2(x)-left) }
func py(y float64) float64 { return 20 + cell*(high-math.Log2(y/1e9)) }

// roofline draws the products below the limits of the machine as SVG.
func roofline(path string, peak float64, levels []level, points []point) error {
	var s strings.Builder
	w, h := px(math.Exp2(right))+110, py(1e9)+50
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
		line(x, py(1e9*math.Exp2(high)), x, py(1e9), "#eee")
		text(x, py(1e9)+16, "middle", fmt.Sprintf("%g", math.Exp2(float64(e))))
	}
	for e := bottom; e <= high; e++ {
		y := py(1e9 * math.Exp2(float64(e)))
		line(px(math.Exp2(left)), y, px(math.Exp2(right)), y, "#eee")
		text(px(math.Exp2(left))-6, y+4, "end", fmt.Sprintf("%g", math.Exp2(float64(e))))
	}
	text(px(math.Exp2((left+right)/2.0)), py(1e9)+36, "middle", "operations for each byte of the three matrices")
	text(px(math.Exp2(left))-6, 14, "start", "GF/s")
	line(px(math.Exp2(left)), py(peak), px(math.Exp2(right)), py(peak), "#000")
	text(px(math.Exp2(right))+4, py(peak)+4, "start", fmt.Sprintf("peak %.0f GF/s", peak/1e9))
	for _, l := range levels {
		from := max(math.Exp2(left), 1e9/l.bytes)
		line(px(from), py(from*l.bytes), px(peak/l.bytes), py(peak), "#888")
		text(px(from)+4, py(from*l.bytes)-4, "start", fmt.Sprintf("%s, %.0f GB/s", l.name, l.bytes/1e9))
	}
	for _, p := range points {
		color := "#c33"
		if p.thin {
			color = "#36c"
		}
		fmt.Fprintf(&s, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s" fill-opacity="0.6"/>`+"\n", px(p.intensity), py(p.speed), color)
	}
	s.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(s.String()), 0o644)
}

// intensity is the least traffic of a product: a, b and c once each.
func (s shape) intensity() float64 {
	return 2 * float64(s.m*s.n*s.k) / (4 * float64(s.m*s.k+s.k*s.n+s.m*s.n))
}
