// Command benchmark measures fastblas beside its opponents, pure gonum and
// OpenBLAS (build tag cblas), and the limits of the machine in the same run,
// and prints tables in Markdown. One thread.
//
// The machine may be shared: every figure is the best of several short
// windows, and the opponents take turns, so that the ratios are trustworthy
// where single times are not.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/proctor-rl/proctor/trainer/fastblas"
	"github.com/proctor-rl/proctor/trainer/fastblas/internal/openblas"
	"github.com/proctor-rl/proctor/trainer/fastblas/machine"
)

func main() {
	rounds := flag.Int("rounds", 12, "windows for each figure")
	window := flag.Duration("window", 4*time.Millisecond, "least length of a window")
	pure := flag.Bool("gonum", true, "measure pure gonum too, which is slow")
	flag.StringVar(&match, "match", "", "only shapes that contain this, such as 4096×256")
	only := flag.String("part", "all", "all, gemm or vec")
	plot := flag.String("plot", "", "write a roofline of the products to this SVG file")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	for _, name := range []string{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS"} {
		if os.Getenv(name) != "" {
			fmt.Fprintf(os.Stderr, "unset %s: it changes what OpenBLAS does\n", name)
			os.Exit(2)
		}
	}
	b := bench{rounds: *rounds, window: *window, gonum: *pure}
	b.peak = machine.Peak(1, 50)
	fmt.Printf("fastblas kernels: %s. OpenBLAS: %s.\n\n", fastblas.Kernels(), openblas.Start(1))
	fmt.Printf("Measured limits of one core: %.1f GF/s of float32 multiply-adds", b.peak/1e9)
	var levels []level
	for _, s := range []struct {
		name string
		size int
	}{{"16 KB", 16 << 10}, {"256 KB", 256 << 10}, {"8 MB", 8 << 20}, {"256 MB", 256 << 20}} {
		l := level{s.name, machine.Bandwidth(1, s.size, 12)}
		levels = append(levels, l)
		fmt.Printf("; reads %.0f GB/s of %s", l.bytes/1e9, l.name)
	}
	fmt.Printf(".\n\n")
	if *only != "vec" {
		b.gemm()
		b.thin()
	}
	if *only != "gemm" {
		b.vec()
	}
	if *plot != "" {
		if err := roofline(*plot, b.peak, levels, b.points); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

type bench struct {
	rounds int
	window time.Duration
	gonum  bool
	peak   float64
	points []point
}

// best returns the best time in seconds of one call of each f, which take
// turns window by window.
func (b bench) best(fs ...func()) []float64 {
	best := make([]float64, len(fs))
	reps := make([]int, len(fs))
	for i, f := range fs {
		if f == nil {
			continue
		}
		f()
		start := now()
		f()
		reps[i] = 1 + int(b.window/max(now()-start, 1))
		best[i] = math.Inf(1)
	}
	for range b.rounds {
		for i, f := range fs {
			if f == nil {
				continue
			}
			start := now()
			for range reps[i] {
				f()
			}
			best[i] = min(best[i], (now()-start).Seconds()/float64(reps[i]))
		}
	}
	return best
}

// match limits the shapes.
var match string

type shape struct{ m, n, k int }

func (s shape) String() string { return fmt.Sprintf("%d×%d×%d", s.m, s.n, s.k) }

// shapes are products of transformers with 128 to 384 dimensions on batches of
// one to 4,096 tokens: projections, feed-forward layers, attention, the head.
var shapes = []shape{
	{64, 64, 64},
	{64, 128, 128},
	{64, 256, 256},
	{64, 1024, 256},
	{256, 256, 32},
	{256, 256, 64},
	{256, 32, 256},
	{256, 64, 256},
	{256, 128, 128},
	{256, 256, 256},
	{256, 1024, 256},
	{512, 512, 512},
	{1024, 1024, 1024},
	{2048, 384, 384},
	{4096, 128, 128},
	{4096, 512, 128},
	{4096, 128, 512},
	{4096, 256, 256},
	{4096, 768, 256},
	{4096, 1024, 256},
	{4096, 256, 1024},
	{4096, 384, 384},
	{4096, 1536, 384},
	{4096, 384, 1536},
}

var layouts = []struct {
	name   string
	ta, tb bool
}{{"NN", false, false}, {"NT", false, true}, {"TN", true, false}}

func filled(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%17)/17 - 0.4
	}
	return x
}

// gemm prints the table of the square-ish products.
func (b *bench) gemm() {
	fmt.Println("| m×n×k | | fastblas GF/s | % of peak | OpenBLAS GF/s | ratio | gonum GF/s | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	var toPeak, toOpen, toGonum ratios
	for _, s := range shapes {
		if !strings.Contains(s.String(), match) {
			continue
		}
		for _, l := range layouts {
			a, y, c := filled(s.m*s.k), filled(s.k*s.n), make([]float32, s.m*s.n)
			lda, ldb, tA, tB := s.k, s.n, blas.NoTrans, blas.NoTrans
			if l.ta {
				lda, tA = s.m, blas.Trans
			}
			if l.tb {
				ldb, tB = s.k, blas.Trans
			}
			fs := []func(){
				func() { fastblas.Implementation{}.Sgemm(tA, tB, s.m, s.n, s.k, 1, a, lda, y, ldb, 0, c, s.n) },
				nil,
			}
			if openblas.Available {
				fs[1] = func() { openblas.Sgemm(l.ta, l.tb, s.m, s.n, s.k, a, lda, y, ldb, 0, c, s.n) }
			}
			t := b.best(fs...)
			flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
			fast := flops / t[0]
			toPeak.add(fast / b.peak)
			b.points = append(b.points, point{s.intensity(), fast, false})
			fmt.Printf("| %v | %s | %.1f | %.0f |", s, l.name, fast/1e9, 100*fast/b.peak)
			fmt.Print(toOpen.cell(flops, t[0], t[1], "%.2f"))
			slow := 0.0
			if b.gonum {
				few := *b
				few.rounds, few.window = 1, time.Millisecond
				slow = few.best(func() {
					gonum.Implementation{}.Sgemm(tA, tB, s.m, s.n, s.k, 1, a, lda, y, ldb, 0, c, s.n)
				})[0]
			}
			fmt.Println(toGonum.cell(flops, t[0], slow, "%.1f"))
		}
	}
	fmt.Printf("\nGeometric means of %d products: %.0f %% of peak (least %.0f %%), %.3f of OpenBLAS (least %.2f), %.1f times gonum (least %.1f).\n\n",
		len(toPeak.all), 100*toPeak.mean(), 100*toPeak.least(), toOpen.mean(), toOpen.least(), toGonum.mean(), toGonum.least())
}

// ratios collects quotients.
type ratios struct{ all []float64 }

func (r *ratios) add(x float64) { r.all = append(r.all, x) }

func (r *ratios) mean() float64 {
	s := 0.0
	for _, x := range r.all {
		s += math.Log(x)
	}
	return math.Exp(s / float64(max(1, len(r.all))))
}

func (r *ratios) least() float64 {
	s := math.Inf(1)
	for _, x := range r.all {
		s = min(s, x)
	}
	return s
}

// cell is an opponent's speed and ours over it; other 0 means not measured.
func (r *ratios) cell(flops, ours, other float64, format string) string {
	if other == 0 {
		return " – | – |"
	}
	r.add(other / ours)
	return fmt.Sprintf(" %.1f | "+format+" |", flops/other/1e9, other/ours)
}
