package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Candidate is a templated action with its hashed features. Prior is added to
// its score: how likely it is, as a logarithm, before anything is learned.
type Candidate struct {
	Action   string
	Features []int32
	Prior    float32
}

// Scene is what an MLP policy makes of one episode: the question's words and,
// from the observations, every "word Name", "word number" and "word ?" in them.
// It fills the templates search, lookup, calculator and finish with these and
// describes each by overlaps with the question. It knows nothing else: no
// name, no relation and no attribute of any environment is written here.
type Scene struct {
	buckets uint64

	words    []string       // of the question, lower case, in order
	position map[string]int // of each word in the question
	names    []string       // in the question, in order
	nameAt   []int          // their positions among the words

	page     string            // the name searched last
	root     map[string]string // the name of the question that each name was reached from
	found    []fact
	hidden   []string // words with a "?" on the current page
	searched map[string]bool
	looked   map[string]bool // by page and word
	computed map[string]bool
	result   string // last number the calculator gave
	last     string // tool and outcome of the last action
}

// fact is a word and what stood behind it.
type fact struct {
	key, value string
	number     bool
	page       string
}

var (
	wordPattern  = regexp.MustCompile(`[A-Za-z]+|-?[0-9]+`)
	factPattern  = regexp.MustCompile(`\b([a-z]+) ([A-Z][a-z]+\b|-?[0-9]+\b|\?)`)
	namePattern  = regexp.MustCompile(`^[A-Z][a-z]+$`)
	wholePattern = regexp.MustCompile(`^-?[0-9]+$`)
)

// NewScene is the scene after the first observation.
func NewScene(observation string, buckets int) *Scene {
	s := &Scene{
		buckets: uint64(buckets), position: map[string]int{}, root: map[string]string{},
		searched: map[string]bool{}, looked: map[string]bool{}, computed: map[string]bool{}, last: "start",
	}
	for _, line := range strings.Split(observation, "\n") {
		sentence := true // the first word of a sentence is capitalised anyway
		for _, at := range wordPattern.FindAllStringIndex(line, -1) {
			w := line[at[0]:at[1]]
			if at[0] > 1 && strings.ContainsAny(line[at[0]-2:at[0]-1], ".:?!") {
				sentence = true
			}
			if !sentence && namePattern.MatchString(w) && !slices.Contains(s.names, w) {
				s.names = append(s.names, w)
				s.nameAt = append(s.nameAt, len(s.words))
				s.root[w] = w
			}
			sentence = false
			w = strings.ToLower(w)
			if _, ok := s.position[w]; !ok {
				s.position[w] = len(s.words)
			}
			s.words = append(s.words, w)
		}
	}
	return s
}

// Observe takes in the answer to an action.
func (s *Scene) Observe(action, observation string) {
	tool, arg := splitAction(action)
	ok := !strings.HasPrefix(observation, "Could not") && !strings.HasPrefix(observation, "Error") &&
		!strings.HasPrefix(observation, "No more") && !strings.HasPrefix(observation, "Invalid")
	s.last = tool + strconv.FormatBool(ok)
	switch tool {
	case "search":
		s.searched[arg] = true
		if ok {
			s.page, s.hidden = arg, nil
		}
	case "lookup":
		s.looked[s.page+" "+arg] = true
		s.hidden = slices.DeleteFunc(s.hidden, func(k string) bool { return k == arg })
	case "calculator":
		s.computed[arg] = true
		if ok && wholePattern.MatchString(strings.TrimSuffix(observation, ".")) {
			s.result = strings.TrimSuffix(observation, ".")
		}
		return
	}
	if !ok {
		return
	}
	for _, m := range factPattern.FindAllStringSubmatch(observation, -1) {
		key, value := m[1], m[2]
		if value == "?" {
			s.hidden = append(s.hidden, key)
			continue
		}
		f := fact{key: key, value: value, number: wholePattern.MatchString(value), page: s.page}
		if slices.Contains(s.found, f) {
			continue
		}
		s.found = append(s.found, f)
		if _, ok := s.root[value]; !f.number && !ok {
			s.root[value] = s.root[s.page]
		}
	}
}

func splitAction(action string) (tool, arg string) {
	body := strings.TrimSpace(action)
	body = body[strings.LastIndexByte(body, '\n')+1:]
	body = strings.TrimSpace(strings.TrimPrefix(body, "Action:"))
	tool, arg, _ = strings.Cut(body, "[")
	return tool, strings.TrimSuffix(arg, "]")
}

// asked reports whether a word is in the question, and whether the first name
// behind it there is root.
func (s *Scene) asked(key, root string) (in, near bool) {
	for i, w := range s.words {
		if w != key {
			continue
		}
		in = true
		for k, at := range s.nameAt {
			if at > i {
				near = near || s.names[k] == root
				break
			}
		}
	}
	return in, near
}

// Candidates are the templated actions that make sense now, at least one, in an
// order that depends on the episode only.
func (s *Scene) Candidates() []Candidate {
	var numbers []fact // asked for, by the question's words
	covered := map[string]bool{}
	for _, f := range s.found {
		if in, near := s.asked(f.key, s.root[f.page]); f.number && in {
			numbers = append(numbers, f)
			if near {
				covered[s.root[f.page]] = true
			}
		}
	}
	state := []string{
		"known" + strconv.Itoa(min(len(numbers), 3)), "result" + strconv.FormatBool(s.result != ""), s.last,
		"names" + strconv.Itoa(min(len(s.names), 3)), "open" + strconv.Itoa(max(0, len(s.names)-len(covered))),
	}
	b := newBuilder(s, state)

	for i, n := range s.names {
		b.add("search["+n+"]", "S", "S from question", "Sdone"+strconv.FormatBool(s.searched[n]), "Sfirst"+strconv.FormatBool(i == 0))
	}
	seen := map[string]bool{}
	for _, f := range s.found {
		if f.number || slices.Contains(s.names, f.value) || seen[f.value] {
			continue
		}
		seen[f.value] = true
		// One name may stand behind several words: what counts is whether the
		// question asks for one of them.
		in, near := false, false
		for _, g := range s.found {
			if g.value == f.value {
				if i, n := s.asked(g.key, s.root[g.page]); i && (!in || n) {
					in, near, f = true, near || n, g
				}
			}
		}
		tags := []string{
			"Sdone" + strconv.FormatBool(s.searched[f.value]), "Sasked" + strconv.FormatBool(in) + strconv.FormatBool(near),
			"Shere" + strconv.FormatBool(f.page == s.page) + strconv.FormatBool(in && near),
		}
		b.add("search["+f.value+"]", append(tags, "S", "S from page")...)
		if in {
			b.add("finish["+f.value+"]", "F", "Fname", "Fname"+strconv.Itoa(min(s.position[f.key], 5))+strconv.FormatBool(near))
		}
	}
	for _, k := range s.hidden {
		in, near := s.asked(k, s.root[s.page])
		b.add("lookup["+k+"]", "L", "L"+strconv.FormatBool(in)+strconv.FormatBool(near), "Ldone"+strconv.FormatBool(s.looked[s.page+" "+k]))
	}
	for _, f := range lastOf(s.found, 8) {
		if f.number {
			in, near := s.asked(f.key, s.root[f.page])
			b.add("finish["+f.value+"]", "F", "Fnumber", "F"+strconv.FormatBool(in)+strconv.FormatBool(near), "Fhere"+strconv.FormatBool(f.page == s.page)+strconv.FormatBool(in),
				"Fat"+strconv.Itoa(min(s.position[f.key], 5))+strconv.FormatBool(in))
		}
	}
	if s.result != "" {
		// Not one of the finishes with what a page shows: those are wrong where
		// something is to be computed, and what is learned of them must not
		// keep the policy from giving its result.
		b.add("finish["+s.result+"]", "R")
	}
	numbers = lastOf(numbers, 4)
	for i, x := range numbers {
		for j, y := range numbers {
			if i == j {
				continue
			}
			_, nx := s.asked(x.key, s.root[x.page])
			_, ny := s.asked(y.key, s.root[y.page])
			order := "same"
			if px, py := slices.Index(s.names, s.root[x.page]), slices.Index(s.names, s.root[y.page]); px != py {
				order = strconv.FormatBool(px < py)
			}
			for _, op := range []string{"+", "-", "*"} {
				e := x.value + " " + op + " " + y.value
				if s.computed[e] {
					continue // its result is known
				}
				b.add("calculator["+e+"]", "C", "C"+op, "C"+op+order, "C"+order+strconv.FormatBool(nx)+strconv.FormatBool(ny))
			}
		}
	}
	if len(b.out) == 0 {
		b.add("finish[unknown]", "F", "Fnothing")
	}
	return b.out
}

// structure is the question's words without what fills its slots: names, numbers
// and the words that pages use as keys. What is left says what kind of question
// it is, also for names and keys that never met before.
func (s *Scene) structure() []string {
	slot := map[string]bool{}
	for _, n := range s.names {
		slot[strings.ToLower(n)] = true
	}
	for _, f := range s.found {
		slot[f.key] = true
	}
	for _, k := range s.hidden {
		slot[k] = true
	}
	var out []string
	for _, w := range s.words {
		if !slot[w] && !wholePattern.MatchString(w) {
			out = append(out, w)
		}
	}
	return out
}

func lastOf[T any](x []T, n int) []T { return x[max(0, len(x)-n):] }
