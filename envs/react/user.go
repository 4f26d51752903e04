package react

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/world"
	"github.com/proctor-rl/proctor/envs/taskfile"
)

// UserTask is a task that a user brought.
type UserTask struct {
	id      string
	problem problem
}

// ID is the task's id.
func (u UserTask) ID() string { return u.id }

// userFile is a task file.
type userFile struct {
	ID        string        `json:"id"`
	Question  string        `json:"question"`
	Documents []userDoc     `json:"documents"`
	Answers   []answer.Spec `json:"answers"`
}

type userDoc struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Bounds of a user's file: generous for a task, small for a mistake.
const (
	maxFile      = 16 << 20
	maxDocuments = 20000
	maxQuestion  = 4096
	maxTitle     = 200
)

var userID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// LoadUserTasks reads every *.json of a folder, by name. A folder that is not
// there has no tasks. The error joins one line a file that does not fit.
func LoadUserTasks(dir string) ([]UserTask, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	slices.Sort(names)
	var tasks []UserTask
	var bad []error
	fileOf := map[string]string{}
	for _, name := range names {
		u, err := loadUserTask(name)
		if err == nil && fileOf[u.id] != "" {
			err = fmt.Errorf("id %q is taken by %s", u.id, fileOf[u.id])
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", name, err))
			continue
		}
		fileOf[u.id] = filepath.Base(name)
		tasks = append(tasks, u)
	}
	return tasks, errors.Join(bad...)
}

func loadUserTask(name string) (UserTask, error) {
	info, err := os.Stat(name)
	if err != nil {
		return UserTask{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return UserTask{}, fmt.Errorf("not a regular file of at most %d bytes", maxFile)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return UserTask{}, err
	}
	return parseUserTask(data)
}

// parseUserTask reads a task strictly: an unknown field is an error, since it
// is mostly a misspelt one.
func parseUserTask(data []byte) (UserTask, error) {
	if err := taskfile.Exact(data, func(string) bool { return true }); err != nil {
		return UserTask{}, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f userFile
	if err := d.Decode(&f); err != nil {
		return UserTask{}, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return UserTask{}, errors.New("text follows the task")
	}
	switch {
	case !userID.MatchString(f.ID):
		return UserTask{}, fmt.Errorf("id %.120q: want letters, digits, points, underscores, hyphens", f.ID)
	case strings.TrimSpace(f.Question) == "" || len(f.Question) > maxQuestion:
		return UserTask{}, fmt.Errorf("the question is empty or longer than %d bytes", maxQuestion)
	case len(f.Answers) == 0:
		return UserTask{}, errors.New("no answers")
	case len(f.Documents) > maxDocuments:
		return UserTask{}, fmt.Errorf("%d documents, at most %d", len(f.Documents), maxDocuments)
	}
	u := UserTask{id: f.ID, problem: problem{question: oneLine(f.Question)}}
	for i, s := range f.Answers {
		g, err := answer.New(s)
		if err != nil {
			return UserTask{}, fmt.Errorf("answer %d: %w", i+1, err)
		}
		u.problem.golds = append(u.problem.golds, g)
	}
	if len(f.Documents) > 0 {
		c, err := userCorpus(f.Documents)
		if err != nil {
			return UserTask{}, err
		}
		u.problem.corpus = func() *corpus { return c }
	}
	return u, nil
}

func userCorpus(docs []userDoc) (*corpus, error) {
	pages := make([]world.Page, len(docs))
	seen := map[string]bool{}
	for i, d := range docs {
		title := oneLine(d.Title)
		key := answer.Fold(title)
		switch {
		case key == "" || len(title) > maxTitle:
			return nil, fmt.Errorf("document %d: the title is empty or longer than %d bytes", i+1, maxTitle)
		case seen[key]:
			return nil, fmt.Errorf("document %d: the title %q stands for another document already", i+1, title)
		case strings.TrimSpace(d.Text) == "":
			return nil, fmt.Errorf("document %d, %q: no text", i+1, title)
		}
		seen[key] = true
		facts := sentences(d.Text)
		pages[i] = world.Page{Title: title, Lead: strings.Join(facts[:min(len(facts), 5)], " "), Facts: facts}
	}
	return newCorpus(pages), nil
}

// sentenceEnd is a full stop, question or exclamation mark, perhaps with a
// closing quote or bracket, before a blank and a capital or digit.
var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]?\s+`)

// sentences cuts a text. Line ends are cuts too. What a page says cannot forge
// an observation, because it stays on the observation's line.
func sentences(text string) []string {
	var out []string
	add := func(s string) {
		if s = oneLine(s); s != "" {
			out = append(out, s)
		}
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		start := 0
		for _, m := range sentenceEnd.FindAllStringIndex(line, -1) {
			if r, _ := utf8.DecodeRuneInString(line[m[1]:]); abbreviation(line[start:m[0]]) || r >= 'a' && r <= 'z' {
				continue
			}
			add(line[start:m[1]])
			start = m[1]
		}
		add(line[start:])
	}
	return out
}

// abbreviation reports whether what stands before a full stop is a single
// letter or a usual abbreviation, after which a sentence goes on.
func abbreviation(s string) bool {
	word := strings.ToLower(s[strings.LastIndexAny(s, " (\"'.")+1:])
	return len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' ||
		slices.Contains([]string{"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "ca", "jr", "sr"}, word)
}

// oneLine is s on one line, with what could pass for a marker of a chat or
// cannot be seen made plain.
func oneLine(s string) string {
	return printable(strings.Join(strings.Fields(s), " "), maxFile)
}
