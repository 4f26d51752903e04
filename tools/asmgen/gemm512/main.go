// Command gemm512 writes the AVX-512 matrix kernels of trainer/fastblas.
//
// A panel of 16 columns is one register here. Every element is the chain of
// fused multiply-adds that the AVX2 kernels compute, with the operands in the
// same order, so that even a NaN has the same bits.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	// The fewer rows, the more panels: two units of latency 4 want 8 chains.
	for rows, panels := range shapes {
		for _, p := range panels {
			tile(rows, p)
		}
	}
	Generate()
}

// shapes is the numbers of panels of the kernels of a number of rows. 12 rows by
// 2 panels need 14 loads for 24 multiply-adds, 6 by 2 need 8 for 12.
var shapes = [13][]int{1: {1, 2, 4, 8}, 2: {1, 2, 4}, 3: {1, 2, 4}, 4: {1, 2}, 5: {1, 2}, 6: {1, 2}, 12: {1, 2}}

func arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// slot is the place of a parameter that a kernel changes where it lies.
func slot(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// tile writes the kernel of a number of rows by panels of 16 columns that are
// ps bytes apart; rows of a are rs and steps of the inner index cs bytes apart.
// It repeats down the rows for a number of tiles, ts bytes apart in a; 12 rows
// are two tiles of 6. Of the last panel it touches the first n columns of c and
// cin only.
func tile(rows, panels int) {
	name := fmt.Sprintf("wide%dx%d", rows, 16*panels)
	TEXT(name, NOSPLIT, "func(kc, tiles int, a *float32, rs, cs, ts int, b *float32, bs, ps int, cin *float32, is int, c *float32, os int, alpha float32, n int)")
	what := fmt.Sprintf("tiles of %d rows and %d columns", rows, 16*panels)
	if rows == 12 {
		what = fmt.Sprintf("pairs of tiles of 6 rows and %d columns", 16*panels)
	}
	Doc(fmt.Sprintf("%s computes c = cin + alpha*a*b for %s, of the last 16 the first n.", name, what))
	Pragma("noescape")

	k := step{rows: rows, panels: panels, rs: arg("rs"), cs: arg("cs"), bs: arg("bs"), b: GP64()}
	if panels > 1 {
		k.ps = arg("ps")
	}
	a0, c, count := arg("a"), arg("c"), GP64()
	for range (rows + 2) / 3 {
		k.a = append(k.a, GP64())
	}
	if panels > 4 {
		k.b4 = GP64()
	}
	mask := lastColumns()

	Label("tile")
	k.start(a0)
	prefetch(c, rows, panels)
	unroll := 4
	if rows*panels > 12 {
		unroll = 2
	}
	Load(Param("kc"), count)
	SUBQ(Imm(uint64(unroll)), count)
	JL(LabelRef("rest"))
	Label("steps")
	for u := range unroll {
		if rows >= 6 && u%2 == 0 {
			for g := 0; g < len(k.a); g += 2 {
				PREFETCHT0(Mem{Base: k.a[g], Disp: 768})
			}
		}
		k.do()
	}
	SUBQ(Imm(uint64(unroll)), count)
	JGE(LabelRef("steps"))
	Label("rest")
	ADDQ(Imm(uint64(unroll)), count)
	JZ(LabelRef("store"))
	Label("one")
	k.do()
	DECQ(count)
	JNZ(LabelRef("one"))

	Label("store")
	pi, is, os := GP64(), arg("is"), arg("os")
	MOVQ(slot("cin"), pi)
	store(k.acc, pi, is, c, os, mask)
	DECQ(slot("tiles"))
	JZ(LabelRef("done"))
	ADDQ(is, pi)
	ADDQ(os, c)
	MOVQ(pi, slot("cin"))
	ADDQ(slot("ts"), a0)
	if rows == 12 {
		ADDQ(slot("ts"), a0)
	}
	JMP(LabelRef("tile"))
	Label("done")
	VZEROUPPER()
	RET()
}

// lastColumns is the mask of the first n columns.
func lastColumns() reg.OpmaskVirtual {
	n, ones, m := arg("n"), GP64(), K()
	MOVQ(I32(-1), ones)
	BZHIL(n.As32(), ones.As32(), ones.As32())
	KMOVW(ones.As32(), m)
	return m
}

// step is one step of the inner index.
type step struct {
	rows, panels   int
	rs, cs, bs, ps reg.GPVirtual
	a              []reg.GPVirtual // every third row
	b, b4          reg.GPVirtual   // the first panel, and the fifth
	acc            [][]reg.VecVirtual
}

// start sets the accumulators to zero and the pointers to the first step.
func (k *step) start(a0 reg.GPVirtual) {
	k.acc = make([][]reg.VecVirtual, k.rows)
	for i := range k.acc {
		for range k.panels {
			z := ZMM()
			VPXORD(z, z, z)
			k.acc[i] = append(k.acc[i], z)
		}
	}
	for g, p := range k.a {
		switch g {
		case 0:
			MOVQ(a0, p)
		case 2:
			MOVQ(a0, p)
			ADDQ(slot("ts"), p)
		default: // three rows below the one before
			LEAQ(Mem{Base: k.a[g-1], Index: k.rs, Scale: 2}, p)
			ADDQ(k.rs, p)
		}
	}
	Load(Param("b"), k.b)
	if k.panels > 4 {
		LEAQ(Mem{Base: k.b, Index: k.ps, Scale: 4}, k.b4)
	}
}

// row is the element of a in a row.
func (k *step) row(i int) Mem { return strided(k.a[i/3], k.rs, i%3) }

// panel is the 16 elements of b of a panel; the fourth is at ps behind the
// third, of which no addressing mode knows.
func (k *step) panel(v int, p3 reg.GPVirtual) Mem {
	base := k.b
	if v >= 4 {
		base, v = k.b4, v-4
	}
	if v == 3 {
		return Mem{Base: base, Index: p3, Scale: 1}
	}
	return strided(base, k.ps, v)
}

func strided(base, stride reg.GPVirtual, times int) Mem {
	if times == 0 {
		return Mem{Base: base}
	}
	return Mem{Base: base, Index: stride, Scale: uint8(times)}
}

func (k *step) do() {
	var p3 reg.GPVirtual
	if k.panels > 3 {
		p3 = GP64()
		LEAQ(Mem{Base: k.ps, Index: k.ps, Scale: 2}, p3)
	}
	var bv []Op
	for v := range k.panels {
		var m Op = k.panel(v, p3)
		if k.rows > 1 {
			z := ZMM()
			VMOVUPS(m, z)
			m = z
		}
		bv = append(bv, m)
	}
	for i := range k.rows {
		x := ZMM()
		VBROADCASTSS(k.row(i), x)
		for v, b := range bv {
			VFMADD231PS(b, x, k.acc[i][v])
		}
	}
	for _, p := range k.a {
		ADDQ(k.cs, p)
	}
	ADDQ(k.bs, k.b)
	if k.panels > 4 {
		ADDQ(k.bs, k.b4)
	}
}

// prefetch asks for the rows of c, which arrive while the chains run.
func prefetch(c reg.GPVirtual, rows, panels int) {
	p, os := GP64(), arg("os")
	MOVQ(c, p)
	for i := range rows {
		for v := range panels {
			PREFETCHT0(Mem{Base: p, Disp: 64 * v})
		}
		PREFETCHT0(Mem{Base: p, Disp: 64*panels - 1})
		if i+1 < rows {
			ADDQ(os, p)
		}
	}
}

// store sets c = cin + alpha*acc and leaves the pointers at the last row.
func store(acc [][]reg.VecVirtual, pi, is, c, os reg.GPVirtual, mask reg.OpmaskVirtual) {
	alpha := ZMM()
	VBROADCASTSS(slot("alpha"), alpha)
	for i, row := range acc {
		for v, s := range row {
			x, from, to := ZMM(), Mem{Base: pi, Disp: 64 * v}, Mem{Base: c, Disp: 64 * v}
			if v == len(row)-1 {
				VMOVUPS_Z(from, mask, x)
				VFMADD231PS(s, alpha, x)
				VMOVUPS(x, mask, to)
				continue
			}
			VMOVUPS(from, x)
			VFMADD231PS(s, alpha, x)
			VMOVUPS(x, to)
		}
		if i+1 < len(acc) {
			ADDQ(is, pi)
			ADDQ(os, c)
		}
	}
}
