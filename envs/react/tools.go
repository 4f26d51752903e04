package react

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/bm25"
	"github.com/proctor-rl/proctor/envs/react/calc"
	"github.com/proctor-rl/proctor/envs/react/scaffold"
)

// The tools and the name of each one's parameter.
var toolParams = map[string]string{
	"search": "query", "lookup": "string", "calculator": "expression", "finish": "answer",
}

const toolList = "search[query], lookup[string], calculator[expression], finish[answer]"

// flagForged is raised where the agent wrote an observation itself.
const flagForged = "forged-observation"

// play runs one call and returns what the agent sees.
func (e *Env) play(c scaffold.Call, o *envs.Outcome) string {
	if c.Forged {
		o.Info.Flags = appendNew(o.Info.Flags, flagForged)
		e.flagged = appendNew(e.flagged, flagForged)
	}
	param, known := toolParams[c.Tool]
	if c.Valid {
		if !known {
			param = "input"
		}
		o.Info.Action = &envs.Understood{Tool: c.Tool, Arguments: map[string]any{param: c.Argument}} // JSON keeps it apart
	}
	switch {
	case c.Problem != "":
		return e.refuse(o, c.Problem)
	case !known:
		return e.refuse(o, "there is no tool "+quote(c.Tool))
	}
	switch c.Tool {
	case "search":
		return e.search(c.Argument, o)
	case "lookup":
		return e.lookup(c.Argument, o)
	case "calculator":
		return e.calculate(c.Argument, o)
	}
	return e.finish(c.Argument, o)
}

// refuse answers an action that could not be understood.
func (e *Env) refuse(o *envs.Outcome, why string) string {
	if o.Info.ParseError == "" {
		o.Info.ParseError = why
	}
	return "Invalid action: " + why + ". Valid actions: " + toolList + "."
}

// fail answers an action whose tool could not do it.
func fail(o *envs.Outcome, text string) string {
	if o.Info.ToolError == "" {
		o.Info.ToolError = text
	}
	return text
}

func (e *Env) search(query string, o *envs.Outcome) string {
	if query == "" {
		return fail(o, "Error: the query is empty.")
	}
	i, ok := e.corpus.open(query)
	if !ok {
		text := "Could not find " + quote(query) + "."
		if titles := e.corpus.similar(query, e.t.opt.similar()); len(titles) > 0 {
			text += " Similar: [" + strings.Join(titles, ", ") + "]."
		}
		return text
	}
	e.page, e.term, e.hit = i, "", 0
	return e.corpus.pages[i].Lead
}

// lookup shows the next fact of the open page that holds term. A new term or
// a new page starts over.
func (e *Env) lookup(term string, o *envs.Outcome) string {
	switch {
	case e.page < 0:
		return fail(o, "Error: no page is open, search first.")
	case term == "":
		return fail(o, "Error: the string to look up is empty.")
	}
	term = strings.ToLower(term)
	if term != e.term {
		e.term, e.hit = term, 0
	}
	var hits []string
	for _, f := range e.corpus.pages[e.page].Facts {
		if e.t.opt.compact() && holdsWords(f, term) || !e.t.opt.compact() && strings.Contains(strings.ToLower(f), term) {
			hits = append(hits, f)
		}
	}
	if e.hit >= len(hits) {
		return "No more results."
	}
	e.hit++
	if e.t.opt.compact() {
		return hits[e.hit-1]
	}
	return fmt.Sprintf("(Result %d / %d) %s", e.hit, len(hits), hits[e.hit-1])
}

// holdsWords reports whether the words of term stand in text in that order
// without a gap, so that "age" is not found in a name.
func holdsWords(text, term string) bool {
	words, want := bm25.Terms(text), bm25.Terms(term)
	if len(want) == 0 {
		return false
	}
	for i := 0; i+len(want) <= len(words); i++ {
		if slices.Equal(words[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func (e *Env) calculate(expression string, o *envs.Outcome) string {
	v, err := calc.Eval(expression)
	if err != nil {
		return fail(o, "Error: "+err.Error()+".")
	}
	text := v.String()
	if e.t.opt.Shaped && e.prob.compute {
		e.shaped = max(e.shaped, shapedAny)
		if answer.MatchAny(e.prob.golds, text) {
			e.shaped = shapedRight
		}
	}
	return text
}

// The process part of a shaped type pays once for a first result of the
// calculator where the question needs one, more if it is the right number, and
// is taken back when the final answer is right: a return is at most 1, and 1
// means solved.
const (
	shapedAny   = 0.125
	shapedRight = 0.375
)

func (e *Env) finish(text string, o *envs.Outcome) string {
	e.phase = over
	score := 0.0
	if answer.MatchAny(e.prob.golds, text) {
		score = 1
		e.shaped = 0
	}
	e.part(o, "answer", envs.PartOutcome, score)
	return "Done."
}

// observation is text and its messages, each cut to the cap.
func (e *Env) observation(text string, messages []envs.Message) envs.Observation {
	o := envs.Observation{Text: text, Messages: messages}
	if e.cap <= 0 {
		return o
	}
	o.Text = cut(text, e.cap)
	o.Elided = len(text) - len(o.Text)
	for i := range o.Messages {
		o.Messages[i].Content = cut(o.Messages[i].Content, e.cap)
	}
	return o
}

// cut is the longest prefix of at most n bytes that ends at a rune's end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// quote shows what the agent wrote so that it cannot pass for anything else:
// short, in quotes, on one line, without control characters or chat markers.
func quote(s string) string {
	return `"` + strings.ReplaceAll(printable(s, 80), `"`, "'") + `"`
}

// printable makes a string of the agent's safe to show or record.
func printable(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if t := cut(s, limit); t != s {
		s = t + "..."
	}
	s = strings.NewReplacer("<|", "< |", "|>", "| >").Replace(s)
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
