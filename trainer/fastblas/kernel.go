package fastblas

import "unsafe"

func ptr(p *float32) unsafe.Pointer { return unsafe.Pointer(p) }

// row is n elements from p[i] as a slice.
func row(p *float32, i, n int) []float32 { return unsafe.Slice(at(p, i), n) }

// runGo is the kernel in Go: the same chains as the assembly, but each
// product rounded before it is added. The conversions keep the compiler from
// fusing them where the machine could.
func (t *tileRun) runGo() {
	for tile := range t.tiles {
		for i := range t.rows {
			a := at(t.a, (tile*t.ts+i*t.rs)/4)
			r := tile*t.rows + i
			for p := range t.panels {
				b := at(t.b, p*t.ps/4)
				for j := 0; j < t.n; j += 4 {
					var s0, s1, s2, s3 float32
					x, y := unsafe.Pointer(a), unsafe.Pointer(at(b, j))
					for q := range t.kc {
						v, w := *(*float32)(unsafe.Add(x, q*t.cs)), (*[4]float32)(unsafe.Add(y, q*t.bs))
						s0 += float32(v * w[0])
						s1 += float32(v * w[1])
						s2 += float32(v * w[2])
						s3 += float32(v * w[3])
					}
					s := [4]float32{s0, s1, s2, s3}
					for l := range min(4, t.n-j) {
						e := p*nr + j + l
						*at(t.c, r*t.os/4+e) = *at(t.cin, r*t.is/4+e) + float32(t.alpha*s[l])
					}
				}
			}
		}
	}
}

// transposeGo writes rows of src as columns: dst[p*ds+i] = src[i*ld+p] for p
// in [from,kc).
func transposeGo(rows, from, kc int, src *float32, ld int, dst *float32, ds int) {
	for i := range rows {
		for p := from; p < kc; p++ {
			*at(dst, p*ds+i) = *at(src, i*ld+p)
		}
	}
}

// copyGo copies rows of n elements into rows of ds, filled up with zeros.
func copyGo(rows int, src *float32, ld int, dst *float32, n, ds int) {
	for p := range rows {
		for i := range n {
			*at(dst, p*ds+i) = *at(src, p*ld+i)
		}
		for i := n; i < ds; i++ {
			*at(dst, p*ds+i) = 0
		}
	}
}

// copyBlocksGo copies rows of 48 elements into 8 blocks of rows of 6.
func copyBlocksGo(rows int, src *float32, ld int, dst *float32, pitch int) {
	for i := range 8 {
		copyGo(rows, at(src, i*mr), ld, at(dst, i*pitch), mr, mr)
	}
}
