package neon

import "fmt"

// What follows are instructions that the Go assembler does not know. They are
// written as words with their names beside them.

// The words with all registers zero. S4 is 4 floats in a register, D2 two
// float64, Elem one lane of the last register.
const (
	fmulS4   = 0x6e20dc00
	faddS4   = 0x4e20d400
	fsubS4   = 0x4ea0d400
	fdivS4   = 0x6e20fc00
	fcmgtS4  = 0x6ea0e400
	faddD2   = 0x4e60d400
	fsqrtS4  = 0x6ea1f800
	fnegS4   = 0x6ea0f800
	frintnS4 = 0x4e218800
	fcvtnsS4 = 0x4e21a800
	sshrS4   = 0x4f000400
	fcvtlD2  = 0x0e617800
	fcvtl2D2 = 0x4e617800
	fmlaElem = 0x4f801000
	fmlsElem = 0x4f805000
	fmulElem = 0x4f809000
)

func word(code uint32, name, format string, args ...any) (uint32, string) {
	return code, fmt.Sprintf("%-6s %s", name, fmt.Sprintf(format, args...))
}

func reg(r int) uint32 {
	if r < 0 || r > 31 {
		panic("neon: no such register")
	}
	return uint32(r)
}

func three(code uint32, name, kind string, d, n, m int) (uint32, string) {
	return word(code|reg(m)<<16|reg(n)<<5|reg(d), name, "v%d.%s, v%d.%s, v%d.%s", d, kind, n, kind, m, kind)
}

func two(code uint32, name, kind, from string, d, n int) (uint32, string) {
	return word(code|reg(n)<<5|reg(d), name, "v%d.%s, v%d.%s", d, kind, n, from)
}

func element(code uint32, name string, d, n, m, lane int) (uint32, string) {
	l := uint32(lane)
	if l > 3 {
		panic("neon: no such lane")
	}
	return word(code|l&1<<21|l>>1<<11|reg(m)<<16|reg(n)<<5|reg(d), name, "v%d.4s, v%d.4s, v%d.s[%d]", d, n, m, lane)
}

func (f *File) emit(code uint32, text string) {
	fmt.Fprintf(&f.asm, "\tWORD   $0x%08x // %s\n", code, text)
}

// FmlaLane adds the product of the floats of n and one of m to those of d.
func (f *File) FmlaLane(d, n, m, lane int) { f.emit(element(fmlaElem, "fmla", d, n, m, lane)) }

// FmlsLane subtracts the product of the floats of n and one of m from d.
func (f *File) FmlsLane(d, n, m, lane int) { f.emit(element(fmlsElem, "fmls", d, n, m, lane)) }

// FmulLane sets d to the products of the floats of n and one of m.
func (f *File) FmulLane(d, n, m, lane int) { f.emit(element(fmulElem, "fmul", d, n, m, lane)) }

// Fmul sets d = n*m.
func (f *File) Fmul(d, n, m int) { f.emit(three(fmulS4, "fmul", "4s", d, n, m)) }

// Fadd sets d = n+m.
func (f *File) Fadd(d, n, m int) { f.emit(three(faddS4, "fadd", "4s", d, n, m)) }

// Fsub sets d = n-m.
func (f *File) Fsub(d, n, m int) { f.emit(three(fsubS4, "fsub", "4s", d, n, m)) }

// Fdiv sets d = n/m.
func (f *File) Fdiv(d, n, m int) { f.emit(three(fdivS4, "fdiv", "4s", d, n, m)) }

// Fcmgt sets the bits of the floats of d where n > m and clears the others.
func (f *File) Fcmgt(d, n, m int) { f.emit(three(fcmgtS4, "fcmgt", "4s", d, n, m)) }

// FaddD sets d = n+m in float64.
func (f *File) FaddD(d, n, m int) { f.emit(three(faddD2, "fadd", "2d", d, n, m)) }

// Fsqrt sets d to the square roots of n.
func (f *File) Fsqrt(d, n int) { f.emit(two(fsqrtS4, "fsqrt", "4s", "4s", d, n)) }

// Fneg sets d = -n.
func (f *File) Fneg(d, n int) { f.emit(two(fnegS4, "fneg", "4s", "4s", d, n)) }

// Frintn rounds n to whole numbers, ties to even.
func (f *File) Frintn(d, n int) { f.emit(two(frintnS4, "frintn", "4s", "4s", d, n)) }

// Fcvtns converts n to 32-bit integers.
func (f *File) Fcvtns(d, n int) { f.emit(two(fcvtnsS4, "fcvtns", "4s", "4s", d, n)) }

// Fcvtl converts the lower two floats of n to float64.
func (f *File) Fcvtl(d, n int) { f.emit(two(fcvtlD2, "fcvtl", "2d", "2s", d, n)) }

// Fcvtl2 converts the upper two floats of n to float64.
func (f *File) Fcvtl2(d, n int) { f.emit(two(fcvtl2D2, "fcvtl2", "2d", "4s", d, n)) }

// Sshr shifts 32-bit integers to the right and keeps their signs.
func (f *File) Sshr(d, n, by int) { f.emit(shift(sshrS4, d, n, by)) }

func shift(code uint32, d, n, by int) (uint32, string) {
	if by < 1 || by > 31 {
		panic("neon: no such shift")
	}
	return word(code|uint32(64-by)<<16|reg(n)<<5|reg(d), "sshr", "v%d.4s, v%d.4s, #%d", d, n, by)
}
