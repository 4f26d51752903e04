package trainer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// stub plays the exercise: it answers an observation with the text of a turn.
type stub interface {
	act(observation string) (string, error)
}

// chance draws a tool among those that the texts so far suggest, then one of its
// actions that it has not tried, and says in its thought what speaks for it.
type chance struct {
	rng   *rand.Rand
	scene *policy.Scene
	tried map[string]bool
	last  string
}

// draw is the next action. A guess at the answer is one tool among the others:
// with three at hand, one action in three ends the episode.
func (c *chance) draw() string {
	candidates := c.scene.Candidates()
	byTool := map[string][]string{}
	var tools []string
	for _, x := range candidates {
		tool, _, _ := strings.Cut(x.Action, "[")
		if c.tried[x.Action] {
			continue
		}
		if byTool[tool] == nil {
			tools = append(tools, tool)
		}
		byTool[tool] = append(byTool[tool], x.Action)
	}
	if len(tools) == 0 {
		return candidates[c.rng.IntN(len(candidates))].Action
	}
	actions := byTool[tools[c.rng.IntN(len(tools))]]
	return actions[c.rng.IntN(len(actions))]
}

func (c *chance) act(observation string) (string, error) {
	if c.scene == nil {
		c.scene = policy.NewScene(observation, 2)
	} else {
		c.scene.Observe(c.last, observation)
	}
	c.last = c.draw()
	c.tried[c.last] = true
	tool, arg, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(c.last, "Action: ")), "[")
	arg = strings.TrimSuffix(arg, "]")
	thought := map[string]string{
		"search":     "the page of " + arg + " may help",
		"lookup":     "this page hides its " + arg,
		"calculator": "two numbers are known, so work out " + arg,
		"finish":     "perhaps it is " + arg,
	}[tool]
	return "Thought: " + thought + "\n" + c.last, nil
}

// person asks whoever sits in front of the program.
type person struct {
	in  *bufio.Scanner
	out io.Writer
}

func (p person) act(string) (string, error) {
	fmt.Fprint(p.out, "your action, such as search[...] or finish[...]: ")
	if !p.in.Scan() {
		fmt.Fprintln(p.out)
		return "", errors.Join(errors.New("no more actions to read"), p.in.Err())
	}
	fmt.Fprintln(p.out)
	line := strings.TrimSpace(p.in.Text())
	if !strings.HasPrefix(line, "Action:") {
		line = "Action: " + line
	}
	return line + "\n", nil
}

// labReact plays one episode with a stub policy, or with the person in front of
// it, and prints the history as it grows.
func labReact(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var l labFlags
	f := newFlags("lab react", "A stub policy plays the tools of one task; the history it acts on is printed as it grows.\nThe stub picks among actions that the texts suggest, by chance. With --you, you are the policy.",
		"trainer lab react --proctor bin/proctor --task 3 --you", stderr)
	l.register(f, 3, 6) // a draw in which both tools are used
	you := f.Bool("you", false, "read the actions from standard input, one a line")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := l.check(f); err != nil {
		return err
	}
	_, stop, err := l.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	conn, err := client.Dial(ctx, l.server, client.Options{Token: l.token})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var player stub = &chance{rng: rand.New(rand.NewPCG(l.seed, 1)), tried: map[string]bool{}}
	if *you {
		player = person{bufio.NewScanner(os.Stdin), stdout}
	}
	return l.watch(ctx, conn, player, stdout)
}

// watch plays one episode and shows what the policy sees before each action.
func (l *labFlags) watch(ctx context.Context, conn rollout.Conn, player stub, w io.Writer) error {
	env, err := conn.Create(ctx, api.CreateEnvRequest{Type: l.env})
	if err != nil {
		return err
	}
	reset, err := conn.Reset(ctx, env.EnvID, api.ResetRequest{Split: "train", Index: &l.index})
	if err != nil {
		return err
	}
	observation := reset.Observation.Text
	history := rollout.PromptText(observation)
	grown := []string{history} // what the policy saw before each action
	fmt.Fprintf(w, "%s, task %s\n\nhistory before step 1, %d bytes:\n%s\n", l.env, reset.Task.TaskID, len(history), indent(history))
	for step := 1; ; step++ {
		action, err := player.act(observation)
		if err != nil {
			return err
		}
		r, err := conn.Step(ctx, env.EnvID, api.StepRequest{Action: api.TextAction(action)})
		if err != nil {
			return err
		}
		observation = r.Observation.Text
		more := action + rollout.ObservationText(action, observation)
		history += more
		grown = append(grown, history)
		fmt.Fprintf(w, "step %d adds %d bytes, the history is now %d:\n%s\n", step, len(more), len(history), indent(more))
		if !r.Done {
			continue
		}
		if r.Return == nil {
			return fmt.Errorf("the episode failed on the server: it has no reward, not a reward of 0")
		}
		fmt.Fprintf(w, "the trajectory:\n%s\n%s after %d steps, return %g\n", indent(history), r.Status, step, *r.Return)
		return checkGrowth(w, grown)
	}
}

// checkGrowth verifies what the exercise asks for: each history begins with the
// one before it, byte for byte, and holds exactly one action more.
func checkGrowth(w io.Writer, grown []string) error {
	for i, h := range grown {
		if i > 0 && (!strings.HasPrefix(h, grown[i-1]) || len(h) == len(grown[i-1])) {
			return fmt.Errorf("the history of step %d is not a continuation of the one before", i)
		}
	}
	sizes := make([]string, len(grown))
	for i, h := range grown {
		sizes[i] = fmt.Sprint(len(h))
	}
	fmt.Fprintf(w, "check: each history begins with the one before it: yes, %s bytes\n", strings.Join(sizes, " < "))
	return nil
}
