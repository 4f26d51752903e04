package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// labGroup plays one task several times and shows the advantages, worked out
// line by line beside the trainer's own.
func labGroup(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var l labFlags
	f := newFlags("lab group", "Plays one task K times with one policy and works out group-relative advantages by hand\nbeside what the trainer computes. Without --run the policy is an untrained MLP.",
		"trainer lab group --proctor bin/proctor --k 4", stderr)
	l.register(f, 0, 1)
	k := f.Int("k", 4, "episodes in the group")
	run := f.String("run", "", "run folder to take the policy from")
	whole := f.Bool("whole", false, "print the episodes whole, observations included")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := l.check(f); err != nil {
		return err
	}
	if *k < 2 {
		return usage("--k must be at least 2: one episode has nothing to be compared with")
	}
	catalogue, stop, err := l.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	opts := trainer.Options{Dir: *run, Catalogue: catalogue, Dial: l.dialer()}
	cfg := trainer.Default()
	cfg.Env.Type, cfg.Policy.Kind, cfg.Seed = l.env, "mlp", l.seed
	var t *trainer.Trainer
	if *run != "" {
		if cfg, err = trainer.RunConfig(*run); err != nil {
			return err
		}
		t, err = trainer.Judge(cfg, opts, "")
	} else {
		t, err = trainer.Untrained(cfg, opts)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	// Look for a task on which the episodes differ: equal rewards teach nothing.
	var episodes []rollout.Episode
	var rewards []float64
	var valid []bool
	for try := range 50 {
		if episodes, err = t.Group(ctx, cfg.Env.Train, l.index+try, *k, l.seed); err != nil {
			return err
		}
		g := rl.Group{}
		for i := range episodes {
			g.Members = append(g.Members, episodes[i].Trajectory())
		}
		if rewards, valid = g.Rewards(); rl.Spread(rewards, valid) {
			if try > 0 {
				fmt.Fprintf(stdout, "(tasks %d to %d gave equal rewards in every episode: advantage 0, nothing to learn)\n\n", l.index, l.index+try-1)
			}
			break
		}
	}
	if len(episodes[0].Turns) > 0 {
		fmt.Fprintf(stdout, "%s, task %s, played %d times:\n%s\n", l.env, episodes[0].TaskID, *k, indent(episodes[0].Turns[0].Observation))
	}
	for i := range episodes {
		e := &episodes[i]
		fmt.Fprintf(stdout, "episode %d: reward %s, %s\n", i+1, rewardText(e), ending(e))
		if *whole {
			fmt.Fprintf(stdout, "%s\n", indent(rollout.Text(e.Turns, e.Final)))
		} else {
			fmt.Fprintf(stdout, "  %s\n\n", actions(e))
		}
	}
	return groupTable(stdout, rewards, valid)
}

// rewardText is the reward, null where our side failed.
func rewardText(e *rollout.Episode) string {
	if !e.Valid {
		return "null"
	}
	return fmt.Sprintf("%g", e.Reward)
}

// actions is an episode as a chain of its actions.
func actions(e *rollout.Episode) string {
	var out []string
	for _, t := range e.Turns {
		_, a, _ := strings.Cut(t.Action, "Action: ")
		out = append(out, strings.TrimSpace(a))
	}
	return strings.Join(out, " > ")
}

// stdEps is what keeps the division finite, in the trainer and by hand.
const stdEps = 1e-4

// groupTable works out the advantages of a group by hand, (R - mean) / std,
// beside the trainer's, and checks what the exercise asks for. It is an error
// if the two disagree.
func groupTable(w io.Writer, rewards []float64, valid []bool) error {
	var terms []string
	n, sum, squares := 0, 0.0, 0.0
	for i, r := range rewards {
		if valid[i] {
			n++
			sum += r
			terms = append(terms, fmt.Sprintf("%g", r))
		}
	}
	mean := sum / float64(max(n, 1))
	for i, r := range rewards {
		if valid[i] {
			squares += (r - mean) * (r - mean)
		}
	}
	std := math.Sqrt(squares / float64(max(n-1, 1)))
	fmt.Fprintf(w, "mean = (%s) / %d = %.4f\nstd  = sqrt(sum of (R - mean)^2 / %d) = sqrt(%.4f / %d) = %.4f\n\n", strings.Join(terms, " + "), n, mean, max(n-1, 1), squares, max(n-1, 1), std)
	center, loo, scaled := make([]float64, len(rewards)), make([]float64, len(rewards)), make([]float64, len(rewards))
	rl.Center(center, rewards, valid)
	rl.LeaveOneOut(loo, rewards, valid)
	rl.Standardize(scaled, rewards, valid, 1, stdEps)
	fmt.Fprintf(w, "%-8s %7s | %-19s | %-19s | %s\n", "", "", "R - mean", "(R - mean) / std", "R - mean of")
	fmt.Fprintf(w, "%-8s %7s | %9s %9s | %9s %9s | %s\n", "episode", "R", "by hand", "trainer", "by hand", "trainer", "the others")
	total := 0.0
	var wrong error
	for i, r := range rewards {
		if !valid[i] {
			fmt.Fprintf(w, "%-8d %7s | our side failed: excluded, it moves neither the mean nor the policy\n", i+1, "null")
			continue
		}
		byHand := (r - mean) / (std + stdEps)
		fmt.Fprintf(w, "%-8d %7.3f | %+9.4f %+9.4f | %+9.4f %+9.4f | %+9.4f\n", i+1, r, r-mean, center[i], byHand, scaled[i], loo[i])
		total += center[i]
		if math.Abs(center[i]-(r-mean)) > 1e-9 || math.Abs(scaled[i]-byHand) > 1e-9 || (r > mean) != (center[i] > 0) {
			wrong = fmt.Errorf("episode %d: the trainer's advantage is not what the formula gives", i+1)
		}
	}
	if wrong != nil {
		return wrong
	}
	fmt.Fprintf(w, "\ncheck: rewards above the mean have positive advantages and those below it negative ones: yes\n")
	fmt.Fprintf(w, "check: the advantages sum to zero, what one episode gains the others lose: %.4f\n", math.Abs(total))
	if !rl.Spread(rewards, valid) {
		fmt.Fprintln(w, "All rewards are equal, so every advantage is 0: this group teaches nothing.")
	}
	return nil
}
