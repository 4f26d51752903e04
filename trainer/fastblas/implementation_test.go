package fastblas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
)

var factors = []float32{0, 1, -0.5}

func near(a, b float32, k int) bool {
	return math.Abs(float64(a-b)) <= 1e-6*float64(k+8)*(1+math.Abs(float64(b)))
}

func compare(t *testing.T, what string, got, want []float32, k int) {
	t.Helper()
	for i := range want {
		if !near(got[i], want[i], k) {
			t.Fatalf("%s: element %d is %v, gonum has %v", what, i, got[i], want[i])
		}
	}
}

func TestImplementationAgreesWithGonum(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		fast, slow := Implementation{}, gonum.Implementation{}
		trans := func(b bool) blas.Transpose {
			if b {
				return blas.Trans
			}
			return blas.NoTrans
		}
		for range 200 {
			p := newProblem(rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(40))
			alpha, beta := factors[rng.IntN(3)], factors[rng.IntN(3)]
			want := append([]float32(nil), p.c.slice()...)
			slow.Sgemm(trans(p.ta), trans(p.tb), p.m, p.n, p.k, alpha, p.a.slice(), p.lda, p.b.slice(), p.ldb, beta, want, p.ldc)
			fast.Sgemm(trans(p.ta), trans(p.tb), p.m, p.n, p.k, alpha, p.a.slice(), p.lda, p.b.slice(), p.ldb, beta, p.c.slice(), p.ldc)
			compare(t, p.String(), p.c.slice(), want, p.k)

			incX, incY := 1, 1
			if rng.IntN(3) == 0 {
				incX, incY = []int{2, -1, 3}[rng.IntN(3)], []int{2, -1, 1}[rng.IntN(3)]
			}
			x, y := random(rng, 200), random(rng, 200)
			rows, cols := p.m, p.k
			if p.ta {
				rows, cols = p.k, p.m
			}
			// gonum scales all of a y that is longer than the vector.
			length := rows
			if p.tb {
				length = cols
			}
			if incY == 1 {
				y = y[:length]
			}
			want = append([]float32(nil), y...)
			slow.Sgemv(trans(p.tb), rows, cols, alpha, p.a.slice(), p.lda, x, incX, beta, want, incY)
			fast.Sgemv(trans(p.tb), rows, cols, alpha, p.a.slice(), p.lda, x, incX, beta, y, incY)
			compare(t, fmt.Sprint("Sgemv ", p, incX, incY), y, want, cols)

			n := rng.IntN(60)
			y = random(rng, 200)
			if got, want := fast.Sdot(n, x, incX, y, incY), slow.Sdot(n, x, incX, y, incY); !near(got, want, n) {
				t.Fatalf("Sdot: %v, gonum has %v", got, want)
			}
			want = append([]float32(nil), y...)
			slow.Saxpy(n, alpha, x, incX, want, incY)
			fast.Saxpy(n, alpha, x, incX, y, incY)
			compare(t, "Saxpy", y, want, 1)
			want = append([]float32(nil), x...)
			if incX > 0 {
				slow.Sscal(n, beta, want, incX)
				fast.Sscal(n, beta, x, incX)
				compare(t, "Sscal", x, want, 1)
			}
		}
	})
}

func random(rng *rand.Rand, n int) []float32 { return matrix(rng, 1, n, n).slice() }

// TestSgemvHasTheBitsOfSgemm: a vector is a matrix of one row.
func TestSgemvHasTheBitsOfSgemm(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 30 {
			m, n, rows := 1+rng.IntN(90), 1+rng.IntN(600), 1+rng.IntN(9)
			w, x := matrix(rng, m, n, n).slice(), matrix(rng, rows, n, n).slice()
			c, y := make([]float32, rows*m), make([]float32, m)
			Implementation{}.Sgemm(blas.NoTrans, blas.Trans, rows, m, n, 1, x, n, w, n, 0, c, m)
			Implementation{}.Sgemv(blas.NoTrans, m, n, 1, w, n, x[:n], 1, 0, y, 1)
			for i := range y {
				if !equalBits(c[i], y[i]) {
					t.Fatalf("%d×%d: element %d is %v by Sgemm and %v by Sgemv", m, n, i, c[i], y[i])
				}
			}
		}
	})
}

// TestGonumPanicsTheSame compares the texts of panics.
func TestGonumPanicsTheSame(t *testing.T) {
	x := make([]float32, 12)
	for name, f := range map[string]func(b blas.Float32){
		"transpose": func(b blas.Float32) { b.Sgemm('x', blas.NoTrans, 1, 1, 1, 1, x, 1, x, 1, 0, x, 1) },
		"m":         func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, -1, 1, 1, 1, x, 1, x, 1, 0, x, 1) },
		"k":         func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 1, 1, -1, 1, x, 1, x, 1, 0, x, 1) },
		"lda":       func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 1, 1, 2, 1, x, 1, x, 1, 0, x, 1) },
		"ldb":       func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 1, 2, 2, 1, x, 2, x, 1, 0, x, 2) },
		"ldc":       func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 1, 2, 2, 1, x, 2, x, 2, 0, x, 1) },
		"a":         func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 4, 1, 4, 1, x, 4, x, 1, 0, x, 1) },
		"b":         func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.Trans, 1, 4, 4, 1, x, 4, x, 4, 0, x, 4) },
		"c":         func(b blas.Float32) { b.Sgemm(blas.NoTrans, blas.NoTrans, 4, 4, 1, 1, x, 1, x, 4, 0, x, 4) },
		"gemv x":    func(b blas.Float32) { b.Sgemv(blas.NoTrans, 2, 2, 1, x, 2, x[:1], 1, 0, x, 1) },
		"gemv inc":  func(b blas.Float32) { b.Sgemv(blas.NoTrans, 2, 2, 1, x, 2, x, 0, 0, x, 1) },
		"gemv a":    func(b blas.Float32) { b.Sgemv(blas.NoTrans, 4, 4, 1, x, 4, x, 1, 0, x, 1) },
		"dot":       func(b blas.Float32) { b.Sdot(13, x, 1, x, 1) },
		"axpy":      func(b blas.Float32) { b.Saxpy(13, 1, x, 1, x, 1) },
		"scal":      func(b blas.Float32) { b.Sscal(13, 1, x, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			got, want := panicText(func() { f(Implementation{}) }), panicText(func() { f(gonum.Implementation{}) })
			if got != want || got == "" {
				t.Errorf("panics with %q, gonum with %q", got, want)
			}
		})
	}
}

func panicText(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}

// The whole use in a gonum program is one line.
func ExampleImplementation() {
	blas32.Use(Implementation{})
	defer blas32.Use(gonum.Implementation{})
	a := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{3, 4}}
	c := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, a, 0, c)
	fmt.Println(c.Data[0])
	// Output: 25
}
