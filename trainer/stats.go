package trainer

import (
	"slices"

	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// groupsOf arranges episodes, which come task by task, as groups.
func groupsOf(episodes []rollout.Episode, size int) []rl.Group {
	var out []rl.Group
	for i := 0; i < len(episodes); i += size {
		g := rl.Group{}
		for k := i; k < min(i+size, len(episodes)); k++ {
			e := &episodes[k]
			if g.TaskID == "" {
				g.TaskID, g.Kind = e.TaskID, kindOf(e.Public)
			}
			g.Members = append(g.Members, e.Trajectory())
		}
		out = append(out, g)
	}
	return out
}

// EpisodeStats are the figures of episodes that were played outside of training:
// rewards and their parts, success, flags, errors, lengths.
func EpisodeStats(episodes []rollout.Episode) rl.Stats { return episodeStats(episodes, nil) }

// episodeStats are the figures of the episodes of one update.
func episodeStats(episodes []rollout.Episode, groups []rl.Group) rl.Stats {
	s := rl.Stats{"episodes": float64(len(episodes))}
	var rewards, passed, turns, chosen, solvedLen, unsolvedLen, latency []float64
	kinds, parts, flags := map[string][]float64{}, map[string]float64{}, map[string]float64{}
	actions, parseErrors, toolErrors, truncated, noRoom, invalid, flagged, attempts := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range episodes {
		e := &episodes[i]
		attempts += float64(max(0, e.Attempts-1))
		if !e.Valid {
			invalid++
			continue
		}
		rewards = append(rewards, e.Reward)
		ok := 0.0
		if e.Passed {
			ok = 1
		}
		passed = append(passed, ok)
		kinds[kindOf(e.Public)] = append(kinds[kindOf(e.Public)], ok)
		for k, v := range e.Parts {
			parts[k] += v
		}
		turns = append(turns, float64(len(e.Turns)))
		n := 0.0
		for _, m := range e.Record.Mask {
			if m {
				n++
			}
		}
		chosen = append(chosen, n)
		if e.Passed {
			solvedLen = append(solvedLen, n)
		} else {
			unsolvedLen = append(unsolvedLen, n)
		}
		if e.Status == "truncated" {
			truncated++
		}
		if e.NoRoom {
			noRoom++
		}
		if len(e.Flags) > 0 {
			flagged++
		}
		for _, f := range e.Flags {
			flags[f]++
		}
		for _, t := range e.Turns {
			actions++
			latency = append(latency, t.EnvMillis)
			if t.ParseError != "" {
				parseErrors++
			}
			if t.ToolError != "" {
				toolErrors++
			}
		}
	}
	n := max(float64(len(rewards)), 1)
	mean := func(name string, x []float64) {
		if len(x) > 0 {
			s[name], _ = rl.MeanStd(x, 0)
		}
	}
	mean("reward_mean", rewards)
	_, s["reward_std"] = rl.MeanStd(rewards, 1)
	mean("success_rate", passed)
	mean("turns_mean", turns)
	mean("response_tokens", chosen)
	mean("length_solved", solvedLen)
	mean("length_unsolved", unsolvedLen)
	for k, v := range kinds {
		mean("success_rate/"+k, v)
	}
	for k, v := range parts {
		s["part/"+k] = v / n
	}
	for k, v := range flags {
		s["flag/"+k] = v / n
	}
	s["truncation_rate"], s["no_room_rate"] = truncated/n, noRoom/n
	s["flagged_rate"] = flagged / n
	s["infra_error_rate"], s["retries"] = invalid/max(float64(len(episodes)), 1), attempts
	s["invalid_action_rate"], s["tool_error_rate"] = parseErrors/max(actions, 1), toolErrors/max(actions, 1)
	s["env_steps"] = actions
	if len(latency) > 0 {
		slices.Sort(latency)
		s["env_latency_p50_ms"], s["env_latency_p95_ms"] = latency[len(latency)/2], latency[len(latency)*95/100]
	}
	none, all, some := 0.0, 0.0, 0.0
	for i := range groups {
		got, of := 0, 0
		for _, m := range groups[i].Members {
			if m.Valid {
				of++
				if m.Passed {
					got++
				}
			}
		}
		switch got {
		case 0:
			none++
		case of:
			all++
		default:
			some++
		}
	}
	g := max(float64(len(groups)), 1)
	s["solved_none"], s["solved_all"], s["solved_some"] = none/g, all/g, some/g
	return s
}
