package grade

import (
	"context"
	"math/rand/v2"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

// spare is implemented by a Runner that knows whether two jobs can run at the
// same time without making somebody wait.
type spare interface{ Spare() bool }

// play is one process: which cases it is asked, in which order.
type play []int

// Grade plays the suite against a workspace and compares. Its error is never
// the agent's doing: sandbox.ErrInfra and the like, or the context's.
func Grade(ctx context.Context, r Runner, files sandbox.Files, s Suite, opt Options) (Verdict, error) {
	rng := rand.New(rand.NewPCG(opt.Seed, 0x9e3779b97f4a7c15))
	plays := []play{newPlay(rng, len(s.Cases)), newPlay(rng, len(s.Cases))}
	if opt.Once || len(s.Cases) == 0 {
		plays = plays[:1]
	}
	run := func(p play) (sandbox.CallsResult, error) {
		job := sandbox.CallsJob{Files: files, Module: s.Module, Limits: opt.Limits, Calls: make([]sandbox.Call, len(p))}
		for i, c := range p {
			k := s.Cases[c]
			job.Calls[i] = sandbox.Call{Fn: k.Fn, Args: k.Args, Kwargs: k.Kwargs, WantArgs: k.WantArgs != nil}
		}
		return r.Calls(ctx, job)
	}
	results, errs := make([]sandbox.CallsResult, len(plays)), make([]error, len(plays))
	if sp, ok := r.(spare); ok && len(plays) == 2 && sp.Spare() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			results[1], errs[1] = run(plays[1])
		}()
		results[0], errs[0] = run(plays[0])
		<-done
	} else {
		for i, p := range plays {
			if results[i], errs[i] = run(p); errs[i] != nil {
				break
			}
			if v := verdict(s, plays[:i+1], results[:i+1]); !v.Solved() {
				plays, results, errs = plays[:i+1], results[:i+1], errs[:i+1]
				break // a second process could only confirm it
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return Verdict{}, err
		}
	}
	return verdict(s, plays, results), nil
}

// leastCalls is how many calls a process is asked at least: code that is right
// for its first few calls only must not get through on a small suite.
const leastCalls = 24

// newPlay shuffles the cases and asks again: all of them where there are few,
// about a quarter where there are many.
func newPlay(rng *rand.Rand, n int) play {
	p := play(rng.Perm(n))
	switch {
	case n == 0:
		return p
	case n > 32:
		for range (n + 3) / 4 {
			p = append(p, p[rng.IntN(n)])
		}
	default:
		for len(p) < max(2*n, leastCalls) {
			p = append(p, rng.Perm(n)...)
		}
	}
	// The first call of each case need not come before the second of any.
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// verdict counts each case once, by the worst of its runs.
func verdict(s Suite, plays []play, results []sandbox.CallsResult) Verdict {
	right, wrong, silent := make([]bool, len(s.Cases)), make([]bool, len(s.Cases)), make([]bool, len(s.Cases))
	var v Verdict
	for i, p := range plays {
		if v.Fault == sandbox.FaultNone {
			v.Fault = results[i].Fault
		}
		v.Usage.Wall = max(v.Usage.Wall, results[i].Usage.Wall)
		v.Usage.CPU += results[i].Usage.CPU
		v.Usage.MaxRSSBytes = max(v.Usage.MaxRSSBytes, results[i].Usage.MaxRSSBytes)
		v.Usage.MinorFaults += results[i].Usage.MinorFaults
		for j, c := range p {
			switch a := results[i].Answers[j]; {
			case !a.Done:
				silent[c] = true
			case s.Cases[c].Right(a) && !s.evasive(s.Cases[c], a):
				right[c] = true
			default:
				wrong[c] = true
			}
		}
	}
	v.PerCase = make([]bool, len(s.Cases))
	for i := range s.Cases {
		switch {
		case wrong[i]:
			v.Failed++
		case silent[i] || !right[i]:
			v.Errors++
		default:
			v.Passed++
			v.PerCase[i] = true
		}
		if right[i] && (wrong[i] || silent[i]) {
			v.Flaky++
		}
	}
	return v
}
