package calc

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxLength bounds an expression in bytes.
const maxLength = 512

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokNumber
	tokName
	tokOp // operators, brackets and the comma
)

type token struct {
	kind tokenKind
	text string
	val  Value
}

var signs = strings.NewReplacer("×", "*", "÷", "/", "−", "-", "·", "*")

// lex cuts an expression into tokens. Only ASCII is read, after the three
// typographic signs that have one meaning.
func lex(s string) ([]token, error) {
	if len(s) > maxLength {
		return nil, fmt.Errorf("the expression is too long, the limit is %d bytes", maxLength)
	}
	s = signs.Replace(s)
	var toks []token
	// calls holds, for each open bracket, whether it is a call's: there a comma
	// parts arguments and not thousands.
	var calls []bool
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case isDigit(c) || c == '.':
			inCall := len(calls) > 0 && calls[len(calls)-1]
			t, n, err := number(s[i:], !inCall)
			if err != nil {
				return nil, err
			}
			toks = append(toks, t)
			i += n
		case isLetter(c):
			n := 1
			for i+n < len(s) && (isLetter(s[i+n]) || isDigit(s[i+n])) {
				n++
			}
			toks = append(toks, token{kind: tokName, text: s[i : i+n]})
			i += n
		default:
			op, err := operator(s[i:])
			if err != nil {
				return nil, err
			}
			switch op {
			case "(":
				calls = append(calls, len(toks) > 0 && toks[len(toks)-1].kind == tokName)
			case ")":
				if len(calls) > 0 {
					calls = calls[:len(calls)-1]
				}
			}
			toks = append(toks, token{kind: tokOp, text: op})
			i += len(op)
		}
	}
	return append(toks, token{kind: tokEnd, text: "the end"}), nil
}

func operator(s string) (string, error) {
	for _, op := range []string{"**", "//"} {
		if strings.HasPrefix(s, op) {
			return op, nil
		}
	}
	if strings.IndexByte("+-*/%^(),", s[0]) >= 0 {
		return s[:1], nil
	}
	r := []rune(s)[0]
	return "", fmt.Errorf("unexpected character %q", r)
}

// number reads an integer or a float. Leading zeros, underscores, other bases
// and suffixes are refused rather than read in one of several ways.
func number(s string, thousands bool) (token, int, error) {
	n := digits(s)
	if thousands && n >= 1 && n <= 3 && s[0] != '0' {
		for len(s) >= n+4 && s[n] == ',' && digits(s[n+1:]) == 3 {
			n += 4
		}
	}
	text := strings.ReplaceAll(s[:n], ",", "")
	float := false
	if n < len(s) && s[n] == '.' {
		d := digits(s[n+1:])
		if n == 0 && d == 0 {
			return token{}, 0, errors.New("unexpected character '.'")
		}
		text += s[n : n+1+d]
		n += 1 + d
		float = true
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		j := n + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if d := digits(s[j:]); d > 0 {
			text += s[n : j+d]
			n = j + d
			float = true
		}
	}
	if n < len(s) && (isLetter(s[n]) || s[n] == '.' || isDigit(s[n])) {
		return token{}, 0, fmt.Errorf("invalid number %q", s[:n+1])
	}
	if float {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return token{}, 0, errTooLarge
		}
		return token{kind: tokNumber, text: text, val: Value{f: f}}, n, nil
	}
	if len(text) > 1 && text[0] == '0' && strings.Trim(text, "0") != "" {
		return token{}, 0, fmt.Errorf("invalid number %q: leading zeros", text)
	}
	i, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return token{}, 0, fmt.Errorf("invalid number %q", text)
	}
	return token{kind: tokNumber, text: text, val: Value{i: i}}, n, nil
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
