package neon

import "testing"

// TestEncodings compares with the words that LLVM's assembler (llvm-mc 14,
// -triple=aarch64 -show-encoding) makes of the same names.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		want uint32
		text string
		code func() (uint32, string)
	}{
		{0x4f9c1300, "fmla   v0.4s, v24.4s, v28.s[0]", func() (uint32, string) { return element(fmlaElem, "fmla", 0, 24, 28, 0) }},
		{0x4fbf1b77, "fmla   v23.4s, v27.4s, v31.s[3]", func() (uint32, string) { return element(fmlaElem, "fmla", 23, 27, 31, 3) }},
		{0x4fb15041, "fmls   v1.4s, v2.4s, v17.s[1]", func() (uint32, string) { return element(fmlsElem, "fmls", 1, 2, 17, 1) }},
		{0x4f859883, "fmul   v3.4s, v4.4s, v5.s[2]", func() (uint32, string) { return element(fmulElem, "fmul", 3, 4, 5, 2) }},
		{0x4e23d441, "fadd   v1.4s, v2.4s, v3.4s", func() (uint32, string) { return three(faddS4, "fadd", "4s", 1, 2, 3) }},
		{0x4ea3d441, "fsub   v1.4s, v2.4s, v3.4s", func() (uint32, string) { return three(fsubS4, "fsub", "4s", 1, 2, 3) }},
		{0x6e23dc41, "fmul   v1.4s, v2.4s, v3.4s", func() (uint32, string) { return three(fmulS4, "fmul", "4s", 1, 2, 3) }},
		{0x6e23fc41, "fdiv   v1.4s, v2.4s, v3.4s", func() (uint32, string) { return three(fdivS4, "fdiv", "4s", 1, 2, 3) }},
		{0x6ea3e441, "fcmgt  v1.4s, v2.4s, v3.4s", func() (uint32, string) { return three(fcmgtS4, "fcmgt", "4s", 1, 2, 3) }},
		{0x4e63d441, "fadd   v1.2d, v2.2d, v3.2d", func() (uint32, string) { return three(faddD2, "fadd", "2d", 1, 2, 3) }},
		{0x6ea1f841, "fsqrt  v1.4s, v2.4s", func() (uint32, string) { return two(fsqrtS4, "fsqrt", "4s", "4s", 1, 2) }},
		{0x6ea0f841, "fneg   v1.4s, v2.4s", func() (uint32, string) { return two(fnegS4, "fneg", "4s", "4s", 1, 2) }},
		{0x4e218841, "frintn v1.4s, v2.4s", func() (uint32, string) { return two(frintnS4, "frintn", "4s", "4s", 1, 2) }},
		{0x4e21a841, "fcvtns v1.4s, v2.4s", func() (uint32, string) { return two(fcvtnsS4, "fcvtns", "4s", "4s", 1, 2) }},
		{0x0e617841, "fcvtl  v1.2d, v2.2s", func() (uint32, string) { return two(fcvtlD2, "fcvtl", "2d", "2s", 1, 2) }},
		{0x4e617841, "fcvtl2 v1.2d, v2.4s", func() (uint32, string) { return two(fcvtl2D2, "fcvtl2", "2d", "4s", 1, 2) }},
		{0x4f3f0441, "sshr   v1.4s, v2.4s, #1", func() (uint32, string) { return shift(sshrS4, 1, 2, 1) }},
	} {
		if code, text := c.code(); code != c.want || text != c.text {
			t.Errorf("%q is %08x, want %08x %q", text, code, c.want, c.text)
		}
	}
}

func TestArguments(t *testing.T) {
	f := &File{}
	f.Func("f", "a, b int, x *float32, y, z float32, n int) (s, t float32)", "does nothing.")
	for name, want := range map[string]string{"a": "a+0(FP)", "b": "b+8(FP)", "x": "x+16(FP)", "y": "y+24(FP)", "z": "z+28(FP)", "n": "n+32(FP)", "s": "s+40(FP)", "t": "t+44(FP)"} {
		if got := f.Arg(name); got != want {
			t.Errorf("%s lies at %s, want %s", name, got, want)
		}
	}
}
