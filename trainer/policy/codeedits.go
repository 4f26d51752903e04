package policy

import (
	"fmt"
	"strconv"
)

// codeEdit is one line put in place of another.
type codeEdit struct {
	path string
	line int // counted from 1
	text string
	kind string   // op, num, name, not
	what string   // the kind and, except for names, what for what
	tags []string // what speaks for or against it

	features []int32 // the same hashed, with what the tests complained of
}

// codeSwaps are the tokens that are often taken for one another.
var codeSwaps = map[string][]string{
	"<": {"<=", ">"}, "<=": {"<", ">="}, ">": {">=", "<"}, ">=": {">", "<="}, "==": {"!="}, "!=": {"=="},
	"+": {"-", "*"}, "-": {"+"}, "*": {"+", "//", "/"}, "//": {"*", "%"}, "%": {"//"}, "/": {"*"},
	"+=": {"-=", "*="}, "-=": {"+="}, "*=": {"+=", "//="}, "//=": {"*=", "%="}, "%=": {"//="},
	"and": {"or"}, "or": {"and"}, "True": {"False"}, "False": {"True"}, "min": {"max"}, "max": {"min"},
}

// codeMaxEdits bounds what is considered in one file.
const codeMaxEdits = 240

// edits lists one-token changes of a file: an operator for another, a number
// one higher or lower, a name for another of the function, a "not" more or
// less, a "+ 1" less. What could make a loop endless is left alone: trying that
// out takes as long as a hundred other tries. Which of them helps is for the policy to learn.
func (f *codeFile) edits(path string) []codeEdit {
	var out []codeEdit
	seen := map[string]bool{}
	for n, toks := range f.tokens {
		if len(toks) == 0 || toks[0].text == "def" || toks[0].text == "class" || toks[0].text == "import" || toks[0].text == "from" || toks[0].text == "@" || f.endless(n) {
			continue
		}
		put := func(i int, kind string, lo, hi int, text string, tags ...string) {
			line := f.lines[n][:lo] + text + f.lines[n][hi:]
			key := strconv.Itoa(n) + line
			if seen[key] || len(out) >= codeMaxEdits {
				return
			}
			seen[key] = true
			what := kind
			if kind != "name" {
				what = kind + f.lines[n][lo:hi] + ">" + text
			}
			out = append(out, codeEdit{path: path, line: n + 1, text: line, kind: kind, what: what, tags: append(tags,
				kind, what, "in"+kind+toks[0].text, "before"+what+codeClass(toks, i-1), "after"+what+codeClass(toks, i+1))})
		}
		for i, t := range toks {
			f.around(n, i, t, put)
		}
	}
	return out
}

// around proposes changes at one token.
func (f *codeFile) around(n, i int, t codeToken, put func(i int, kind string, lo, hi int, text string, tags ...string)) {
	toks := f.tokens[n]
	binary := i > 0 && (toks[i-1].kind != 'o' && toks[i-1].kind != 'k' || toks[i-1].text == ")" || toks[i-1].text == "]")
	switch {
	case t.text == "not" && f.at(n, i+1) == "in":
		put(i, "not", t.lo, toks[i+1].lo, "")
	case t.text == "not" && i+1 < len(toks):
		put(i, "not", t.lo, toks[i+1].lo, "")
	case t.text == "is" && f.at(n, i+1) == "not":
		put(i, "not", t.lo, toks[i+1].hi, "is")
	case t.text == "is":
		put(i, "not", t.lo, t.hi, "is not")
	case t.text == "in" && f.at(n, i-1) != "not" && !f.loops(n, i):
		put(i, "not", t.lo, t.hi, "not in")
	case (t.text == "if" || t.text == "while" || t.text == "elif") && f.at(n, i+1) != "not":
		put(i, "not", t.hi, t.hi, " not")
	case t.kind == 'i':
		if v, err := strconv.Atoi(t.text); err == nil {
			for _, w := range []int{v - 1, v + 1} {
				if w >= 0 {
					put(i, "num", t.lo, t.hi, strconv.Itoa(w))
				}
			}
			if before := f.at(n, i-1); !binary && before != "-" {
				put(i, "num", t.lo, t.lo, "-")
			}
		}
	case t.kind == 'n' && f.owner[n] >= 0 && f.at(n, i-1) != ".":
		f.rename(n, i, put)
	}
	if (t.text == "+" || t.text == "-") && binary && f.at(n, i+1) == "1" {
		put(i, "num", t.lo, toks[i+1].hi, "")
	}
	if (t.text == "+" || t.text == "-") && !binary {
		put(i, "not", t.lo, t.hi, "")
		return
	}
	for _, other := range codeSwaps[t.text] {
		put(i, "op", t.lo, t.hi, other)
	}
}

// loops reports whether the "in" at token i belongs to a for.
func (f *codeFile) loops(n, i int) bool {
	for k := i - 1; k >= 0; k-- {
		if f.at(n, k) == "for" {
			return true
		}
		if t := f.tokens[n][k]; t.kind != 'n' && t.text != "," && t.text != "(" && t.text != ")" {
			return false
		}
	}
	return false
}

// rename proposes the other names of the function in place of a used one.
func (f *codeFile) rename(n, i int, put func(i int, kind string, lo, hi int, text string, tags ...string)) {
	s, t := &f.scopes[f.owner[n]], f.tokens[n][i]
	if _, known := s.first[t.text]; !known || f.stores(n, i) {
		return
	}
	here := 0 // times that the line names it
	for _, x := range f.tokens[n] {
		if x.kind == 'n' && x.text == t.text {
			here++
		}
	}
	next := f.at(n, i+1)
	for _, other := range s.names {
		if other == t.text {
			continue
		}
		inLine := false
		for _, x := range f.tokens[n] {
			inLine = inLine || x.text == other
		}
		uses := fmt.Sprintf("uses%d-%d", min(s.uses[t.text], 3), min(s.uses[other], 3))
		like := fmt.Sprintf("like%t-%t", s.after[t.text][next] > 1, s.after[other][next] > 0)
		put(i, "name", t.lo, t.hi, other,
			uses, like, fmt.Sprintf("unused%t", s.uses[other] == 0), fmt.Sprintf("here%d%t", min(here, 3), inLine),
			fmt.Sprintf("roles%t%t", s.params[t.text], s.params[other]), fmt.Sprintf("known%t", s.first[other] < n || s.params[other]))
	}
}

// codeBuiltins are the names that say something by themselves.
var codeBuiltins = map[string]bool{"len": true, "range": true, "min": true, "max": true, "sum": true, "abs": true, "sorted": true}

// codeClass is a token in few words: its text, or what kind of thing it is.
func codeClass(toks []codeToken, i int) string {
	if i < 0 || i >= len(toks) {
		return "end"
	}
	switch t := toks[i]; t.kind {
	case 'n':
		if codeBuiltins[t.text] {
			return t.text
		}
		return "name"
	case 's':
		return "literal"
	default:
		return t.text
	}
}
