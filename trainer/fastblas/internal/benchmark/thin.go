package main

import (
	"fmt"

	"github.com/proctor-rl/proctor/trainer/fastblas"
	"github.com/proctor-rl/proctor/trainer/fastblas/internal/openblas"
)

// thin prints the table of products with few rows, as in decoding.
func (b *bench) thin() {
	fmt.Println("| rows × n × k, b = weights n by k | packed GF/s | plain GF/s | OpenBLAS GF/s | packed GB/s of weights |")
	fmt.Println("|---|---|---|---|---|")
	ws := fastblas.NewWorkspace()
	for _, s := range []shape{
		{1, 128, 128},
		{1, 512, 128},
		{1, 256, 256},
		{1, 1024, 256},
		{1, 256, 1024},
		{1, 1536, 384},
		{4, 256, 256},
		{4, 1024, 256},
		{8, 1024, 256},
		{16, 1024, 256},
		{32, 1024, 256},
		{64, 512, 128},
	} {
		a, w, c := filled(s.m*s.k), filled(s.k*s.n), make([]float32, s.m*s.n)
		p := fastblas.NewPacked(s.k, s.n)
		p.PackTrans(w, s.k)
		fs := []func(){
			func() { fastblas.GemmPacked(c, s.n, a, s.k, p, s.m, fastblas.Epilogue{}, ws) },
			func() {
				fastblas.Gemm(c, s.n, false, a, s.k, true, w, s.k, s.m, s.n, s.k, 1, fastblas.Epilogue{}, ws)
			},
			nil,
		}
		if openblas.Available {
			fs[2] = func() { openblas.Sgemm(false, true, s.m, s.n, s.k, a, s.k, w, s.k, 0, c, s.n) }
		}
		t := b.best(fs...)
		flops := 2 * float64(s.m*s.n*s.k)
		b.points = append(b.points, point{s.intensity(), flops / t[0], true})
		open := "–"
		if openblas.Available {
			open = fmt.Sprintf("%.1f", flops/t[2]/1e9)
		}
		fmt.Printf("| %d×%d×%d | %.1f | %.1f | %s | %.0f |\n", s.m, s.n, s.k, flops/t[0]/1e9, flops/t[1]/1e9, open, 4*float64(s.n*s.k)/t[0]/1e9)
	}
	fmt.Println()
}
