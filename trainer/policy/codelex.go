package policy

import (
	"regexp"
	"strings"
)

// codeToken is a token of a line of Python.
type codeToken struct {
	kind   byte // n name, k keyword, i integer, s string or other literal, o operator
	text   string
	lo, hi int // bytes of the line
}

var codeTokenPattern = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_.]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#.*|\*\*=?|//=?|<=|>=|==|!=|->|:=|[-+*/%]=|\S`)

var codeKeywords = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "if": true, "elif": true, "else": true, "while": true, "for": true,
	"return": true, "def": true, "class": true, "import": true, "from": true, "raise": true, "try": true, "except": true, "finally": true,
	"with": true, "as": true, "pass": true, "break": true, "continue": true, "lambda": true, "yield": true, "del": true, "assert": true,
	"global": true, "nonlocal": true, "True": true, "False": true, "None": true,
}

// codeLex cuts a line into tokens; a comment is left out.
func codeLex(line string) []codeToken {
	var out []codeToken
	for _, at := range codeTokenPattern.FindAllStringIndex(line, -1) {
		t := codeToken{kind: 'o', text: line[at[0]:at[1]], lo: at[0], hi: at[1]}
		c := t.text[0]
		switch {
		case c == '#':
			return out
		case c == '"' || c == '\'':
			t.kind = 's'
		case c >= '0' && c <= '9':
			t.kind = 's'
			if strings.Trim(t.text, "0123456789") == "" {
				t.kind = 'i'
			}
		case codeKeywords[t.text]:
			t.kind = 'k'
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t.kind = 'n'
		}
		out = append(out, t)
	}
	return out
}

// codeFile is a file as it was shown, with what a reader sees at a glance:
// which function each line belongs to and which names live in it.
type codeFile struct {
	lines  []string
	tokens [][]codeToken
	owner  []int // index into scopes of each line, -1 outside of functions
	scopes []codeScope
}

// codeScope is a function: its names in order of appearance, and how often each
// is bound and used.
type codeScope struct {
	indent int
	names  []string
	params map[string]bool
	first  map[string]int // line of the first binding
	uses   map[string]int
	after  map[string]map[string]int // what stood behind a use of the name
	whiles bool                      // it has a loop that a wrong step would never end
}

func newCodeFile(lines []string) *codeFile {
	f := &codeFile{lines: lines}
	var open []int // scopes that the line is in, innermost last
	for n, line := range lines {
		toks := codeLex(line)
		f.tokens = append(f.tokens, toks)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if len(toks) > 0 {
			for len(open) > 0 && indent <= f.scopes[open[len(open)-1]].indent {
				open = open[:len(open)-1]
			}
		}
		if len(toks) > 0 && toks[0].text == "def" {
			f.scopes = append(f.scopes, codeScope{
				indent: indent, params: map[string]bool{}, first: map[string]int{}, uses: map[string]int{}, after: map[string]map[string]int{},
			})
			open = append(open, len(f.scopes)-1)
			f.parameters(&f.scopes[len(f.scopes)-1], n)
		}
		f.owner = append(f.owner, -1)
		if len(open) > 0 {
			f.owner[n] = open[len(open)-1]
			if len(toks) > 0 && toks[0].text == "while" {
				f.scopes[f.owner[n]].whiles = true
			}
		}
	}
	f.bind()
	f.count()
	return f
}

func (s *codeScope) bind(name string, line int) {
	if _, ok := s.first[name]; !ok && name != "self" && name != "_" {
		s.first[name] = line
		s.names = append(s.names, name)
	}
}

// parameters binds the names between the brackets of a def.
func (f *codeFile) parameters(s *codeScope, n int) {
	for i, t := range f.tokens[n] {
		if i > 1 && t.kind == 'n' && (f.at(n, i-1) == "(" || f.at(n, i-1) == "," || f.at(n, i-1) == "*") {
			s.bind(t.text, n)
			s.params[t.text] = true
		}
	}
}

// at is the text of token i of line n, "" beyond its ends.
func (f *codeFile) at(n, i int) string {
	if i < 0 || i >= len(f.tokens[n]) {
		return ""
	}
	return f.tokens[n][i].text
}

// bind finds assigned names and those that loops bind, in comprehensions too.
func (f *codeFile) bind() {
	for n, toks := range f.tokens {
		if f.owner[n] < 0 {
			continue
		}
		s := &f.scopes[f.owner[n]]
		for i, t := range toks {
			if t.kind == 'n' && f.stores(n, i) {
				s.bind(t.text, n)
			}
		}
	}
}

// stores reports whether token i of line n is a name that the line binds.
func (f *codeFile) stores(n, i int) bool {
	toks := f.tokens[n]
	if f.at(n, i-1) == "." {
		return false
	}
	// for a, b in ...
	for k := i - 1; k >= 0; k-- {
		if toks[k].text == "for" {
			return true
		}
		if toks[k].kind != 'n' && toks[k].text != "," && toks[k].text != "(" {
			break
		}
	}
	// a, b = ... at the beginning of the line
	for k := 0; k < len(toks); k++ {
		switch x := toks[k]; {
		case x.text == "=" || x.kind == 'o' && len(x.text) > 1 && strings.HasSuffix(x.text, "=") && strings.IndexByte("+-*/%", x.text[0]) >= 0:
			return k > i
		case x.kind != 'n' && x.text != ",":
			return false
		}
	}
	return false
}

// endless reports whether a wrong guess at line n could make a program that
// runs until a limit ends it: the condition of a while, and what steps it.
func (f *codeFile) endless(n int) bool {
	if f.owner[n] < 0 || !f.scopes[f.owner[n]].whiles {
		return false
	}
	if f.tokens[n][0].text == "while" {
		return true
	}
	for _, t := range f.tokens[n] {
		if t.kind == 'o' && len(t.text) > 1 && strings.HasSuffix(t.text, "=") && codeSwaps[t.text] != nil && strings.IndexByte("+-*/%", t.text[0]) >= 0 {
			return true
		}
	}
	return false
}

// count notes the uses of each name and what stands behind them.
func (f *codeFile) count() {
	for n, toks := range f.tokens {
		if f.owner[n] < 0 {
			continue
		}
		s := &f.scopes[f.owner[n]]
		for i, t := range toks {
			if _, known := s.first[t.text]; t.kind == 'n' && known && !f.stores(n, i) && toks[0].text != "def" && f.at(n, i-1) != "." {
				s.uses[t.text]++
				if s.after[t.text] == nil {
					s.after[t.text] = map[string]int{}
				}
				s.after[t.text][f.at(n, i+1)]++
			}
		}
	}
}
