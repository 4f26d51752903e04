// Command vec-arm64 writes the NEON elementwise kernels of trainer/fastblas/vec:
// the same functions as command vec writes for AVX2, with the same results.
//
// Eight lanes are a pair of registers here. What is added in which lane, and
// how the lanes are added in the end, is as there.
package main

import (
	"fmt"
	"math"
	"os"

	"github.com/proctor-rl/proctor/tools/asmgen/neon"
)

func main() {
	k := &kernels{f: neon.Start(), at: map[uint32]int{}}
	// 8 lanes of ones and 8 of zeros: the 8 lanes that begin 8-n before the
	// border keep the first n.
	for i := range 16 {
		k.table = append(k.table, uint32(0xffffffff)*uint32(1-i/8))
	}
	k.simple()
	k.reductions()
	k.activations()
	k.softmax()
	k.norms()
	k.optimizer()
	k.f.Data("numbers", k.table)
	if err := k.f.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pair is 8 floats in two registers, or twice the same register where all
// lanes hold one number.
type pair [2]int

// Registers that are not given out.
const (
	rN, rTmp, rTable = 13, 14, 15
	vMask            = 29 // and 30
	vNum             = 31
)

// kernels writes one kernel after the other.
type kernels struct {
	f        *neon.File
	table    []uint32
	at       map[uint32]int // where a number lies in the table
	used     int            // registers given out
	pointers int            // in R0 and following
}

// begin starts a kernel whose pointers are loaded in their order.
func (k *kernels) begin(name, signature, doc string, pointers ...string) {
	k.f.Func(name, signature, doc)
	k.used, k.pointers = 0, len(pointers)
	for i, p := range pointers {
		k.f.Load(i, p)
	}
	k.f.Load(rN, "n")
	k.f.I("MOVD $numbers<>(SB), R%d", rTable)
}

func (k *kernels) reg() int {
	if k.used == vMask {
		panic("vec-arm64: no register left")
	}
	k.used++
	return k.used - 1
}

func (k *kernels) pair() pair { return pair{k.reg(), k.reg()} }

// spread loads a float32 parameter into all lanes.
func (k *kernels) spread(name string) pair {
	r := k.reg()
	k.f.I("FMOVS %s, F%d", k.f.Arg(name), r)
	k.f.I("VDUP V%d.S[0], V%d.S4", r, r)
	return pair{r, r}
}

// constant loads a number into the registers of p.
func (k *kernels) constant(p pair, x float32) pair {
	b := math.Float32bits(x)
	return k.bits(p, b)
}

func (k *kernels) bits(p pair, b uint32) pair {
	if _, ok := k.at[b]; !ok {
		k.at[b] = 4 * len(k.table)
		k.table = append(k.table, b, b, b, b)
	}
	k.f.I("FMOVQ %d(R%d), F%d", k.at[b], rTable, p[0])
	if p[1] != p[0] {
		k.f.I("FMOVQ %d(R%d), F%d", k.at[b], rTable, p[1])
	}
	return p
}

// num is a number in the register that the next one overwrites.
func (k *kernels) num(x float32) pair { return k.constant(pair{vNum, vNum}, x) }

// sums returns n accumulators of zeros.
func (k *kernels) sums(n int) []pair {
	s := make([]pair, n)
	for i := range s {
		s[i] = k.pair()
		k.f.Zero(s[i][0], s[i][1])
	}
	return s
}

// result stores a lane 0 as a result.
func (k *kernels) result(r int, name string) { k.f.I("FMOVS F%d, %s", r, k.f.Arg(name)) }

func (k *kernels) end() { k.f.I("RET") }

// lanes is 8 elements at the current place of every pointer, or the last fewer
// than 8.
type lanes struct {
	k    *kernels
	off  int
	part bool
}

func (l lanes) load(i int) pair {
	p, f := l.k.pair(), l.k.f
	if !l.part {
		f.I("FLDPQ %d(R%d), (F%d, F%d)", 32*l.off, i, p[0], p[1])
		return p
	}
	f.Zero(p[0], p[1])
	l.pieces(i, p, "FMOV%c.P %d(R%d), F%d", "VLD1 (R%[1]d), V%[2]d.S[2]")
	return p
}

func (l lanes) store(i int, p pair) {
	if !l.part {
		l.k.f.I("FSTPQ (F%d, F%d), %d(R%d)", p[0], p[1], 32*l.off, i)
		return
	}
	l.pieces(i, p, "FMOV%c.P F%[4]d, %[2]d(R%[3]d)", "VST1 V%[2]d.S[2], (R%[1]d)")
}

// pieces moves n < 8 floats: 4 if there are as many, then 2, then 1. first is
// for pieces that begin a register, third for a float after two.
func (l lanes) pieces(i int, p pair, first, third string) {
	f := l.k.f
	low, done := f.NewLabel("low"), f.NewLabel("done")
	move := func(kind byte, size, r int) { f.I(first, kind, size, rTmp, r) }
	rest := func(r int) {
		one := f.NewLabel("one")
		f.I("TBZ $1, R%d, %s", rN, one)
		move('D', 8, r)
		f.I("TBZ $0, R%d, %s", rN, done)
		f.I(third, rTmp, r)
		f.I("B %s", done)
		f.Label(one)
		f.I("TBZ $0, R%d, %s", rN, done)
		move('S', 4, r)
	}
	f.I("MOVD R%d, R%d", i, rTmp)
	f.I("TBZ $2, R%d, %s", rN, low)
	move('Q', 16, p[0])
	rest(p[1])
	f.I("B %s", done)
	f.Label(low)
	rest(p[0])
	f.Label(done)
}

// mask loads which lanes are there.
func (l lanes) mask() pair {
	f := l.k.f
	f.I("LSL $2, R%d, R%d", rN, rTmp)
	f.I("SUB R%d, R%d, R%d", rTmp, rTable, rTmp)
	f.I("FLDPQ 32(R%d), (F%d, F%d)", rTmp, vMask, vMask+1)
	return pair{vMask, vMask + 1}
}

// keep zeroes the lanes that are not there.
func (l lanes) keep(p pair) {
	if l.part {
		l.k.each2("VAND V%d.B16, V%d.B16, V%d.B16", l.mask(), p, p)
	}
}

// each runs body over n elements, groups of 8 by turns of many as long as they
// last, then one by one, then the rest. It uses up n and the pointers.
func (k *kernels) each(groups int, body func(l lanes)) {
	before := k.used
	turn := func(many int) {
		loop, out := k.f.NewLabel("loop"), k.f.NewLabel("out")
		k.f.I("SUBS $%d, R%d", 8*many, rN)
		k.f.I("BLT %s", out)
		k.f.Label(loop)
		for o := range many {
			k.used = before
			body(lanes{k: k, off: o})
		}
		for p := range k.pointers {
			k.f.I("ADD $%d, R%d", 32*many, p)
		}
		k.f.I("SUBS $%d, R%d", 8*many, rN)
		k.f.I("BGE %s", loop)
		k.f.Label(out)
		k.f.I("ADD $%d, R%d", 8*many, rN)
	}
	if groups > 1 {
		turn(groups)
	}
	turn(1)
	end := k.f.NewLabel("end")
	k.f.I("CBZ R%d, %s", rN, end)
	k.used = before
	body(lanes{k: k, part: true})
	k.used = before
	k.f.Label(end)
}
