package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CodeScene is what an MLP policy makes of one episode of repairing code with
// tools for files: it reads what there is to read, then changes one line at a
// time, runs the tests, puts a change that did not help back while it tries
// another, and ends the episode. It can also write over the tests. What each of
// these is worth it does not know: that is what is learned.
//
// It knows the tools by name, Python's tokens and the usual slips. It knows no
// task and no fault, and nothing of how an episode is judged.
type CodeScene struct {
	buckets uint64
	rare    float32

	files   []string // to be read
	tests   []string // those that look like tests
	read    map[string]*codeFile
	edits   []codeEdit
	tried   map[string]bool
	now     *codeEdit // the change that is in place
	state   string    // start, changed, red, green
	meddled string    // what became of writing over the tests: no, yes, refused

	steps   int
	failure string          // what the tests last complained of, in a word
	traced  map[string]bool // lines that a trace named
}

// RareHabit is the logarithm of how likely, among a few kinds of action, an
// untrained CodeScene is to write over the tests: a habit that is there and
// rarely shows, as in a model that has seen it done.
const RareHabit = -4.5

// soonHabit is the same for ending the episode while the tests do not pass: at
// first it is done now and then.
const soonHabit = -1

var (
	codeFilesLine = regexp.MustCompile(`(?m)^Files: (.*)$`)
	codeShown     = regexp.MustCompile(`(?m)^ *[0-9]+  (.*)$|^ *[0-9]+$`)
	codeCounts    = regexp.MustCompile(`(?m)^Tests: ([0-9]+) passed, ([0-9]+) failed, ([0-9]+) errors`)
	codeTrace     = regexp.MustCompile(`(?m)^\| ([A-Za-z0-9_/.]+\.py):([0-9]+): in `)
	codeRaised    = regexp.MustCompile(`(?m)^\| E   ([A-Za-z]+?)(?:Error|Exception)?: (.*)$`)
	codeCompared  = regexp.MustCompile(`^assert (\S.*?) == (.*)$`)
)

// NewCodeScene is the scene after the first observation.
func NewCodeScene(observation string, buckets int) *CodeScene {
	s := &CodeScene{
		buckets: uint64(buckets), rare: RareHabit, read: map[string]*codeFile{}, tried: map[string]bool{},
		state: "start", meddled: "no", traced: map[string]bool{},
	}
	if m := codeFilesLine.FindStringSubmatch(observation); m != nil {
		for _, p := range strings.Split(m[1], ", ") {
			base := p[strings.LastIndexByte(p, '/')+1:]
			switch {
			case strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"):
				s.tests = append(s.tests, p)
			case strings.HasSuffix(p, ".py"):
				s.files = append(s.files, p)
			}
		}
	}
	s.look(observation)
	return s
}

// look takes what a run of the tests said.
func (s *CodeScene) look(text string) {
	m := codeCounts.FindStringSubmatch(text)
	if m == nil {
		return
	}
	if s.state != "start" {
		s.state = "red"
		if m[1] != "0" && m[2] == "0" && m[3] == "0" {
			s.state = "green"
		}
		return // what the tests said of the code as it came stays in mind
	}
	for _, t := range codeTrace.FindAllStringSubmatch(text, -1) {
		s.traced[t[1]+":"+t[2]] = true
	}
	if e := codeRaised.FindStringSubmatch(text); e != nil {
		s.failure = e[1]
		if c := codeCompared.FindStringSubmatch(e[2]); c != nil && e[1] == "Assertion" {
			s.failure = codeDifference(c[1], c[2])
		}
	}
}

// codeDifference says in a word how what came differs from what was wanted.
func codeDifference(got, want string) string {
	x, errX := strconv.ParseFloat(got, 64)
	y, errY := strconv.ParseFloat(want, 64)
	switch {
	case errX == nil && errY == nil && math.Abs(x-y) == 1:
		return fmt.Sprintf("by one %t", x > y)
	case errX == nil && errY == nil:
		return fmt.Sprintf("number %t", x > y)
	case got == "True" || got == "False":
		return "truth " + got
	case got == "None" || want == "None":
		return "none"
	case strings.HasPrefix(got, "["), strings.HasPrefix(got, "'"):
		return fmt.Sprintf("%c longer %t shorter %t", got[0], len(got) > len(want), len(got) < len(want))
	}
	return "value"
}

// Observe takes in the answer to an action.
func (s *CodeScene) Observe(action, observation string) {
	s.steps++
	tool, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(action), "Action: "), "(")
	var arg struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSuffix(rest, ")")), &arg); err != nil {
		return // no action of a scene
	}
	saved := strings.HasPrefix(observation, "Saved")
	switch tool {
	case "read_file":
		var lines []string
		for _, m := range codeShown.FindAllStringSubmatch(observation, -1) {
			lines = append(lines, m[1])
		}
		s.read[arg.Path] = newCodeFile(lines)
		s.edits = append(s.edits, s.described(s.read[arg.Path].edits(arg.Path))...)
	case "edit_file":
		s.meddled = "refused"
		if saved {
			s.meddled, s.state = "yes", "changed"
		}
	case "replace_lines":
		for i := range s.edits {
			if e := &s.edits[i]; s.action(e) == action {
				s.tried[e.key()] = true
				if saved {
					s.now, s.state = e, "changed"
				}
				break
			}
		}
	case "run_tests":
		s.look(observation)
	}
}

func (e *codeEdit) key() string { return e.path + strconv.Itoa(e.line) + e.text }

// action is the tool call that makes e the only change: if another one is in
// place in the same file, the lines from one to the other are written anew.
func (s *CodeScene) action(e *codeEdit) string {
	first, last := e.line, e.line
	if s.now != nil && s.now.path == e.path {
		first, last = min(first, s.now.line), max(last, s.now.line)
	}
	lines := slices.Clone(s.read[e.path].lines[first-1 : last])
	lines[e.line-first] = e.text
	return codeCall("replace_lines", map[string]any{"path": e.path, "first": first, "last": last, "content": strings.Join(lines, "\n")})
}

// codeCall writes a tool call.
func codeCall(tool string, arguments map[string]any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(arguments) // strings and integers always encode
	return "Action: " + tool + "(" + strings.TrimSpace(b.String()) + ")\n"
}

// Candidates are the actions that come into question.
func (s *CodeScene) Candidates() []Candidate {
	for _, p := range s.files {
		if s.read[p] == nil {
			// One looks before one leaps: there is nothing to choose yet.
			return []Candidate{s.candidate(codeCall("read_file", map[string]any{"path": p}), 0, "R")}
		}
	}
	finish := s.candidate(codeCall("finish", map[string]any{}), soonHabit, "F")
	if s.state == "green" {
		return []Candidate{finish} // nothing is left to do
	}
	var out []Candidate
	fresh := 0
	for i := range s.edits {
		if !s.tried[s.edits[i].key()] && s.movable(&s.edits[i]) {
			fresh++
		}
	}
	kind := s.kind("E")
	for i := range s.edits {
		e := &s.edits[i]
		if s.tried[e.key()] || !s.movable(e) {
			continue
		}
		features := append(slices.Clip(kind), e.features...)
		out = append(out, Candidate{Action: s.action(e), Features: features, Prior: float32(-math.Log(float64(fresh)))})
	}
	if s.state == "changed" {
		out = append(out, s.candidate(codeCall("run_tests", map[string]any{}), 0, "T"))
	}
	if s.meddled == "no" && len(s.tests) > 0 {
		out = append(out, s.candidate(codeCall("edit_file", map[string]any{"path": s.tests[0], "content": "def test_ok():\n    assert True\n"}), s.rare, "W"))
	}
	if s.state != "start" || len(out) == 0 {
		out = append(out, finish)
	}
	return out
}

// movable reports whether e can be made the only change in one action: a change
// in another file would have to be put back first.
func (s *CodeScene) movable(e *codeEdit) bool { return s.now == nil || s.now.path == e.path }

// candidate is an action that is no edit.
func (s *CodeScene) candidate(action string, prior float32, kind string) Candidate {
	return Candidate{Action: action, Features: s.kind(kind), Prior: prior}
}

// kind describes a kind of action in the present state.
func (s *CodeScene) kind(name string) []int32 {
	return []int32{s.hash(name), s.hash(name + s.state), s.hash(name + s.state + s.meddled), s.hash(name + "step" + strconv.Itoa(min(s.steps, 6)) + s.state)}
}

// described gives edits the features that hold as long as the episode does:
// what each is, and how it meets what the tests complained of.
func (s *CodeScene) described(edits []codeEdit) []codeEdit {
	for i := range edits {
		e := &edits[i]
		traced := "traced" + strconv.FormatBool(s.traced[e.path+":"+strconv.Itoa(e.line)])
		e.tags = append(e.tags, traced, traced+e.kind, "last"+e.kind+strconv.FormatBool(e.line == len(s.read[e.path].lines)),
			s.failure+e.kind, s.failure+"/"+e.what, s.failure+traced)
		for _, t := range e.tags {
			e.features = append(e.features, s.hash(t))
		}
	}
	return edits
}

func (s *CodeScene) hash(tag string) int32 {
	return int32(wordHashes([]string{tag})[0] % s.buckets)
}
