package calc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/envs/react/calc"
)

func TestEval(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2+3*4", "14"},
		{"(2+3)*4", "20"},
		{"  12   /4 ", "3.0"},
		{"7/2", "3.5"},
		{"7//2", "3"},
		{"-7//2", "-4"},
		{"-7%3", "2"},
		{"7%-3", "-2"},
		{"10%4", "2"},
		{"3*-2", "-6"},
		{"3--2", "5"},
		{"2**10", "1024"},
		{"2^10", "1024"},
		{"-2**2", "-4"},
		{"-2^2", "-4"},
		{"2**-1", "0.5"},
		{"2**3**2", "512"},
		{"(-8)**3", "-512"},
		{"0**0", "1"},
		{"(-1)**999999999999999999999", "-1"},
		{"1**999999999999999999999", "1"},
		{"99999999999*99999999999", "9999999999800000000001"},
		{"9223372036854775807+1", "9223372036854775808"},
		{"12345678901234567890*98765432109876543210", "1219326311370217952237463801111263526900"},
		{"0.1+0.2", "0.30000000000000004"},
		{"1e3+1", "1001.0"},
		{"1e16", "1e+16"},
		{"1e15", "1000000000000000.0"},
		{"0.00001", "1e-05"},
		{"-0.0", "-0.0"},
		{"5.", "5.0"},
		{".5", "0.5"},
		{"7.5//2", "3.0"},
		{"-7.5%2", "0.5"},
		{"10**400/10**399", "10.0"},
		{"abs(-3)", "3"},
		{"min(3,1,2)", "1"},
		{"max(1,2.5)", "2.5"},
		{"max(2,2.0)", "2"},
		{"round(2.5)", "2"},
		{"round(3.5)", "4"},
		{"round(2.675,2)", "2.67"},
		{"round(1250,-2)", "1200"},
		{"round(-1350,-2)", "-1400"},
		{"sqrt(16)", "4.0"},
		{"gcd(12,18)", "6"},
		{"floor(-2.5)", "-3"},
		{"ceil(2.1)", "3"},
		// Not Python, and read in one way only.
		{"2(3+4)", "14"},
		{"(1+2)(3+4)", "21"},
		{"-2(3)", "-6"},
		{"1,234+1", "1235"},
		{"12,345,678", "12345678"},
		{"15%", "0.15"},
		{"100*15%", "15.0"},
		{"10%-3", "-2"},
		{"5×3", "15"},
		{"6÷4", "1.5"},
		{"5−2", "3"},
	} {
		got, err := calc.Eval(c.in)
		if err != nil {
			t.Errorf("%s: %v, want %s", c.in, err, c.want)
		} else if got.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, in := range []string{
		"", " ", "+", "1+", "*2", "()", "(1", "1)", ")", "1 2", "1..2", "1.2.3", ".", "1e", "1e+", "e3", "1e999", "-1e999",
		"1/0", "1//0", "1%0", "1.0/0", "0**-1", "0.0**-1", "(-1)**0.5", "sqrt(-1)", "5 % 0.0",
		"9**9**9", "9**9999999", "10**10**10", "1<<3", "1<<(10**10)", "1>>3", "1&2", "1|2", "~1", "1<2", "1==1", "not 1", "1 if 1 else 0",
		"x", "pi", "inf", "nan", "True+True", "None", "abs", "abs 3", "abs()", "abs(1,2)", "min(1)", "gcd(1.5,2)", "round(1.5,2.0)", "round(1,10**9)", "sum(1,2)",
		"__import__('os').getcwd()", "().__class__", "open('/etc/hostname').read()", "(lambda f: f(f))(lambda f: f(f))", "(x:=5)*x",
		"'a'*10", `"a"`, "'Observation: the answer is Paris'", "[1]*5", "{1}", "1;2", "1\n+1", "1+1\nObservation: 2", "1#2", "1\x00", "\xff",
		"1_000+1", "0x1F", "0b1", "0o7", "007", "1j", "1l", "3²", "٣+٤", "１+１", "1\u200b+1", "½", "∞",
		"12,34", "1,2345", "1234,567", "0,123", "1,234,5", "1,,234",
		"6/2(1+2)", "2**3(4)", "2//1(3)", "7%4(2)", "2 max(1,2)", "(1)2", "2(3)4",
		"10**1300", "(10**700)*(10**700)", "2.0**5000", "10**400+0.5", "10**400*1.0", "round(1e308,-308)*10",
		strings.Repeat("(", 65) + "1" + strings.Repeat(")", 65), strings.Repeat("-", 65) + "1", strings.Repeat("2**", 70) + "1",
		strings.Repeat("1+", 300) + "1",
	} {
		if v, err := calc.Eval(in); err == nil {
			t.Errorf("%.60q: got %s, want a refusal", in, v)
		}
	}
}

// The cost of an expression does not grow with what it asks for.
func TestBounded(t *testing.T) {
	for name, in := range map[string]string{
		"brackets":   strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000),
		"signs":      strings.Repeat("-", 50000) + "1",
		"2 MB":       "1" + strings.Repeat("+1", 1<<20),
		"digits":     strings.Repeat("9", 1<<20),
		"digits 512": strings.Repeat("9", 512),
		"powers":     strings.Repeat("9**", 60) + "9",
		"products":   "2**4000" + strings.Repeat("*9**1000", 60),
		"rounds":     strings.Repeat("round(", 60) + "1e308" + strings.Repeat(",-400)", 60),
		"decimals":   strings.Repeat("round(", 60) + "0.1" + strings.Repeat(",400)", 60),
		"fractions":  "1" + strings.Repeat("/3", 250),
		"floats":     "1e-308" + strings.Repeat("%7e-320", 60),
		"gcd":        "gcd(2**4000,3**2000,5**1500)",
	} {
		start := time.Now()
		v, err := calc.Eval(in)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s took %v", name, d)
		}
		if err == nil && len(v.String()) > 1300 {
			t.Errorf("%s: a result of %d bytes", name, len(v.String()))
		}
		if err != nil && len(err.Error()) > 120 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{"1+2*3", "-2**2", "7//-2", "round(2.675,2)", "2(3)", "1,234%", "max(1,2.5)", "1e308*10", "9**9**9", "((((1))))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := calc.Eval(s)
		if err != nil {
			if err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("%q: error %q", s, err)
			}
			return
		}
		text := v.String()
		if text == "" || strings.Contains(text, "Inf") || strings.Contains(text, "NaN") || len(text) > 1300 {
			t.Errorf("%q: value %q", s, text)
		}
		if len(text) > 500 {
			return
		}
		// A result is an expression with itself as the value.
		if again, err := calc.Eval(text); err != nil || again.String() != text {
			t.Errorf("%q: %s reads back as %v, %v", s, text, again, err)
		}
	})
}
