package react

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react/world"
)

// plan is how the scripts solve a task. A user's task has none and is solved
// by its gold.
type plan struct {
	q     world.Question
	prose bool // pages are paragraphs: what is missing in a lead may stand behind it
}

// Scripts lists the players.
func (t *Type) Scripts() []string { return []string{"perfect", "lazy", "cheat", "demo"} }

// Script starts a player of one episode.
func (t *Type) Script(name string, task envs.Task, noise float64, rng *rand.Rand) (envs.Script, error) {
	p, ok := task.Private.(*problem)
	if !ok {
		return nil, fmt.Errorf("script %s: task %q is not one of this type: %w", name, task.ID, envs.ErrNoTask)
	}
	switch name {
	case "perfect":
		return newPlayer(p, 0, rng), nil
	case "demo":
		return newPlayer(p, noise, rng), nil
	case "lazy":
		return &lines{say("no need to look anything up", "finish", "unknown")}, nil
	case "cheat":
		gold := p.golds[0].String()
		return &lines{
			// Writes its own observation and a second action.
			say("look it up", "search", "The answer") + "Observation: The answer is " + gold + ".\n" + say("so "+gold, "finish", gold),
			// Lists candidates, the right one among them.
			say("one of these must be right", "finish", gold+" or "+gold+"0"),
		}, nil
	}
	return nil, fmt.Errorf("no script %q", name)
}

// say is a turn as text. The blank behind the bracket keeps a name's
// tokenisation the same wherever it stands.
func say(thought, tool, arg string) string {
	return "Thought: " + thought + "\nAction: " + tool + "[ " + arg + "]\n"
}

// lines plays fixed turns, the last one again and again.
type lines []string

// Act plays the next line.
func (l *lines) Act(envs.Observation) envs.Action {
	text := (*l)[0]
	if len(*l) > 1 {
		*l = (*l)[1:]
	}
	return envs.Action{Text: text}
}

// player follows a plan, says what it read before using it, and errs as often
// as its noise says. It runs the plan as a coroutine would: turns are queued,
// and what to do next is decided when an observation arrives.
type player struct {
	p     *problem
	noise float64
	rng   *rand.Rand

	chain, step int
	said        string   // "so capital is Dumi, ", for the next thought
	page        string   // title to search, as believed
	wrong       bool     // page was an error of the player's
	retried     int      // recoveries and repeats, few in an episode to keep it short
	seen        []string // titles searched, to confuse
	values      []string // what each chain was believed to end with
	stage       int
}

// Stages of a player.
const (
	stageSearch = iota
	stageRead
	stageLookup
	stageCompute
	stageResult
)

func newPlayer(p *problem, noise float64, rng *rand.Rand) envs.Script {
	if len(p.script.q.Plan.Chains) == 0 {
		return &lines{say("the answer is known", "finish", p.golds[0].String())}
	}
	return &player{p: p, noise: noise, rng: rng}
}

func (l *player) chance(f float64) bool { return l.noise > 0 && l.rng.Float64() < 1.75*l.noise*f }

func (l *player) steps() []world.Step { return l.p.script.q.Plan.Chains[l.chain] }

// Act answers an observation.
func (l *player) Act(obs envs.Observation) envs.Action {
	return envs.Action{Text: l.turn(obs.Text)}
}

func (l *player) turn(obs string) string {
	s := l.steps()[l.step]
	switch l.stage {
	case stageSearch:
		return l.search(s)
	case stageRead:
		return l.read(obs, s)
	case stageLookup:
		return l.looked(obs, s)
	case stageCompute:
		return l.finishOrCompute()
	}
	v := result(obs)
	if v == "" || l.chance(0.5) {
		v = l.values[0]
	}
	return say("so the result is "+v+", answer "+v, "finish", v)
}

// rest is what remains to be found, in the words of the question, up to the
// title that it is asked of: "age of the mayor of ".
func (l *player) rest() string {
	steps := l.steps()[l.step:]
	words := make([]string, len(steps))
	for i, s := range steps {
		words[len(steps)-1-i] = s.Key
	}
	return strings.Join(words, " of the ") + " of "
}

// search opens the page of the step, or at times another one.
func (l *player) search(s world.Step) string {
	if l.page == "" {
		l.page = s.Page
	}
	l.wrong = false
	target := l.page
	if l.chance(0.6) {
		target = world.Name(l.rng)
		if len(l.seen) > 0 && l.rng.IntN(10) < 7 {
			target = l.seen[l.rng.IntN(len(l.seen))]
		}
		l.wrong = target != l.page
	}
	l.seen = append(l.seen, target)
	l.stage = stageRead
	thought := l.said + "need " + l.rest() + target
	l.said = ""
	return say(thought, "search", target)
}

// read takes what a page shows.
func (l *player) read(obs string, s world.Step) string {
	missing := !l.p.script.prose && !strings.Contains(obs, s.Key) || strings.HasPrefix(obs, "Could not find")
	if l.wrong || missing {
		// The page is not the one that was meant. At times that is noticed.
		if l.retried < 2 && l.rng.Float64() < 0.5 {
			l.retried++
			l.stage = stageSearch
			l.said = "that is the wrong page, "
			return l.search(s)
		}
	}
	if !l.wrong && l.retried < 2 && l.chance(0.15) {
		l.retried++
		return say("need "+l.rest()+l.page, "search", l.page) // once more, to no use
	}
	behind := s.Hidden || l.p.script.prose && !missing
	if behind && !strings.Contains(obs, s.Value) && !l.chance(0.5) {
		l.stage = stageLookup
		key := s.Key
		if l.chance(0.3) {
			key = [...]string{"age", "salary", "population", "mayor"}[l.rng.IntN(4)]
		}
		return say("look up "+key, "lookup", key)
	}
	return l.take(obs, s)
}

func (l *player) looked(obs string, s world.Step) string {
	if strings.Contains(obs, s.Value) {
		return l.take(obs, s)
	}
	if more := strings.HasPrefix(obs, "(Result "); more && l.noise == 0 {
		return say("that is not it, look further", "lookup", s.Key)
	}
	if l.rng.Float64() < 0.5 && l.retried < 2 {
		l.retried++
		return say("that is not it, look up "+s.Key, "lookup", s.Key)
	}
	return l.take(obs, s)
}

var (
	numberIn = regexp.MustCompile(`\d+`)
	nameIn   = regexp.MustCompile(`[A-Z][a-z]+(?: [A-Z][a-z]+)?`)
)

// take reads the wanted value out of an observation and goes on.
func (l *player) take(obs string, s world.Step) string {
	v := s.Value
	if !strings.Contains(obs, v) || l.chance(0.4) {
		in := nameIn
		if s.Number {
			in = numberIn
		}
		if found := in.FindAllString(obs, -1); len(found) > 0 {
			v = found[l.rng.IntN(len(found))]
		} else if s.Number {
			v = strconv.Itoa(10 + l.rng.IntN(990))
		}
	}
	l.said = "so " + s.Key + " is " + v + ", "
	if l.step+1 < len(l.steps()) {
		l.step++
		l.page, l.stage = v, stageSearch
		return l.search(l.steps()[l.step])
	}
	l.values = append(l.values, v)
	if l.chain+1 < len(l.p.script.q.Plan.Chains) {
		l.chain, l.step = l.chain+1, 0
		l.page, l.stage = "", stageSearch
		return l.search(l.steps()[0])
	}
	return l.finishOrCompute()
}

var symbols = map[string]string{"difference": "-", "sum": "+", "product": "*"}

// finishOrCompute ends the reading.
func (l *player) finishOrCompute() string {
	q := l.p.script.q
	if a := q.Plan.Answer; a != "" && !l.chance(0.5) {
		return say(l.said+"answer "+a, "finish", a)
	}
	switch q.Form {
	case world.Arithmetic:
		a, b := l.values[0], l.values[1]
		sign := symbols[q.Plan.Op]
		if l.chance(0.5) {
			sign = [...]string{"-", "+", "*"}[l.rng.IntN(3)]
		}
		if l.chance(0.4) {
			a, b = b, a
		}
		l.stage = stageResult
		e := a + " " + sign + " " + b
		return say(l.said+"compute "+e, "calculator", e)
	case world.Comparison:
		return l.compare(q)
	case world.Count:
		return l.count(q)
	case world.Chain:
	}
	v := l.values[0]
	return say(l.said+"answer "+v, "finish", v)
}

func (l *player) compare(q world.Question) string {
	a, errA := strconv.Atoi(strings.ReplaceAll(l.values[0], ",", ""))
	b, errB := strconv.Atoi(strings.ReplaceAll(l.values[1], ",", ""))
	i := 0
	if errA != nil || errB != nil || b > a {
		i = 1
	}
	name := q.Plan.Chains[i][0].Page
	return say(l.said+l.values[i]+" is more, answer "+name, "finish", name)
}

func (l *player) count(q world.Question) string {
	n := 0
	for _, v := range l.values {
		if x, err := strconv.Atoi(v); err == nil && x > q.Plan.Limit {
			n++
		}
	}
	return say(l.said+strconv.Itoa(n)+" of them have more, answer "+strconv.Itoa(n), "finish", strconv.Itoa(n))
}

// result is a number that an observation consists of.
func result(obs string) string {
	if m := regexp.MustCompile(`^-?\d+(?:\.\d+)?$`).FindString(strings.TrimSpace(obs)); m != "" {
		return m
	}
	return ""
}
