package pyval

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FormatFloat renders f as Python's repr does.
func FormatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if e := strings.IndexByte(s, 'e'); e >= 0 {
		if exp, err := strconv.Atoi(s[e+1:]); err == nil && exp >= -4 && exp < 16 {
			s = strconv.FormatFloat(f, 'f', -1, 64)
		}
	} else if a := math.Abs(f); a >= 1e16 {
		s = strconv.FormatFloat(f, 'e', -1, 64)
	}
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// maxIntBits is the longest int that is written out, about Python's own limit.
const maxIntBits = 14_000

func (v Value) write(b *strings.Builder) {
	switch v.Kind {
	case None:
		b.WriteString("None")
	case Bool:
		if v.Bool {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case Int:
		if n := v.Int.BitLen(); n > maxIntBits {
			fmt.Fprintf(b, "<int of %d bits>", n) // as Python refuses it: too much work
		} else {
			b.WriteString(v.Int.String())
		}
	case Float:
		b.WriteString(FormatFloat(v.Float))
	case Str:
		b.WriteString(quote(v.Str, ""))
	case Bytes:
		b.WriteString(quote(v.Str, "b"))
	case List:
		writeItems(b, "[", v.Items, "]")
	case Tuple:
		if len(v.Items) == 1 {
			writeItems(b, "(", v.Items, ",)")
		} else {
			writeItems(b, "(", v.Items, ")")
		}
	case Set:
		if len(v.Items) == 0 {
			b.WriteString("set()")
		} else {
			writeItems(b, "{", v.Items, "}")
		}
	case FrozenSet:
		writeItems(b, "frozenset({", v.Items, "})")
	case Dict:
		b.WriteByte('{')
		for i, p := range v.Pairs {
			if i > 0 {
				b.WriteString(", ")
			}
			p.Key.write(b)
			b.WriteString(": ")
			p.Val.write(b)
		}
		b.WriteByte('}')
	case Opaque:
		b.WriteString("<" + v.Str + " object>")
	}
}

func writeItems(b *strings.Builder, open string, items []Value, end string) {
	b.WriteString(open)
	for i, it := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		it.write(b)
	}
	b.WriteString(end)
}

// quote renders a Python literal: single quotes unless only those occur.
func quote(s, prefix string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteString(prefix)
	b.WriteByte(q)
	if prefix == "b" {
		for i := 0; i < len(s); i++ {
			writeByte(&b, s[i], q)
		}
	} else {
		for i, r := range s {
			switch {
			case r == '�' && !strings.HasPrefix(s[i:], "�"):
				writeByte(&b, s[i], q)
			case r < 0x80:
				writeByte(&b, byte(r), q)
			default:
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte(q)
	return b.String()
}

func writeByte(b *strings.Builder, c, q byte) {
	const hex = "0123456789abcdef"
	switch {
	case c == q || c == '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
	case c == '\n':
		b.WriteString(`\n`)
	case c == '\r':
		b.WriteString(`\r`)
	case c == '\t':
		b.WriteString(`\t`)
	case c < 0x20 || c >= 0x7f:
		b.WriteString(`\x`)
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	default:
		b.WriteByte(c)
	}
}
