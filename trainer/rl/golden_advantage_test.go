package rl_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/proctor-rl/proctor/trainer/rl"
)

func TestGoldenGroupAdvantages(t *testing.T) {
	var g struct {
		Infra struct {
			Rewards, Valid []float64
			Want           []float64 `json:"policy_drop_from_baseline_and_loss"`
		} `json:"infra_failure"`
		Truncated struct {
			Rewards, Truncated []float64
			Grade              []float64 `json:"as_failure"`
			Mask               []float64 `json:"mask_loss_keep_baseline"`
			Drop               []float64 `json:"drop_from_both"`
		} `json:"truncated_policies"`
		Rewards  map[string][]float64
		BatchStd float64 `json:"batch_std_unbiased"`
		Expected map[string]map[string]json.RawMessage
	}
	golden(t, "group_advantages", &g)

	// P12: an infrastructure failure leaves baseline and loss.
	got := make([]float64, 4)
	rl.Center(got, g.Infra.Rewards, bools(g.Infra.Valid))
	nearAll(t, "infra", got, g.Infra.Want)

	for policy, want := range map[rl.TruncatedPolicy][]float64{
		rl.TruncatedGrade: g.Truncated.Grade, rl.TruncatedMask: g.Truncated.Mask, rl.TruncatedDrop: g.Truncated.Drop,
	} {
		rl.CenterTruncated(got, g.Truncated.Rewards, nil, bools(g.Truncated.Truncated), policy)
		nearAll(t, string(policy), got, want)
	}

	var all [][]float64
	for _, name := range []string{"g1", "g2", "g3", "g4", "g5"} {
		all = append(all, g.Rewards[name])
	}
	// The golden batch deviation leaves the singleton group out of nothing: it
	// is over all rewards of all groups.
	batch := rl.BatchStd(all, nil)
	near(t, "batch std", batch, g.BatchStd)

	for name, r := range g.Rewards {
		estimators := map[string]func(dst []float64){
			"centered_dr_grpo":                  func(d []float64) { rl.Center(d, r, nil) },
			"rloo":                              func(d []float64) { rl.LeaveOneOut(d, r, nil) },
			"grpo_unbiased_eps1e-4":             func(d []float64) { rl.Standardize(d, r, nil, 1, 1e-4) },
			"grpo_unbiased_eps1e-6":             func(d []float64) { rl.Standardize(d, r, nil, 1, 1e-6) },
			"grpo_biased_eps1e-6":               func(d []float64) { rl.Standardize(d, r, nil, 0, 1e-6) },
			"maxrl":                             func(d []float64) { rl.MaxRL(d, r, nil) },
			"grpo_passk_max_minus_second_nostd": func(d []float64) { rl.BestOfGroup(d, r, nil) },
			"group_center_batch_std_eps1e-4": func(d []float64) {
				rl.Center(d, r, nil)
				for i := range d {
					d[i] /= batch + 1e-4
				}
			},
		}
		seen := 0
		for key, raw := range g.Expected[name] {
			switch key {
			case "mean", "std_biased", "std_unbiased":
				var want float64
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
				mean, s0 := rl.MeanStd(r, 0)
				_, s1 := rl.MeanStd(r, 1)
				near(t, name+" "+key, map[string]float64{"mean": mean, "std_biased": s0, "std_unbiased": s1}[key], want)
			case "zero_std":
				var want bool
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
				if got := !rl.Spread(r, nil); got != want {
					t.Errorf("%s zero std = %v, want %v", name, got, want)
				}
			default:
				f, ok := estimators[key]
				if !ok {
					t.Fatalf("no estimator for golden %q", key)
				}
				var want []float64
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
				got := make([]float64, len(r))
				f(got)
				nearAll(t, name+" "+key, got, want)
				seen++
			}
		}
		if seen < 7 {
			t.Errorf("%s: only %d estimators in the golden file", name, seen)
		}
	}
}

func TestGoldenReturnsAndGAE(t *testing.T) {
	var g struct {
		Rewards, Values []float64
		Bootstrap       float64 `json:"bootstrap_value"`
		Gamma, Lam      float64
		Expected        struct {
			RTG      map[string][]float64
			Term     []float64 `json:"gae_terminated"`
			Trunc    []float64 `json:"gae_truncated_bootstrap"`
			RetTerm  []float64 `json:"returns_terminated"`
			RetTrunc []float64 `json:"returns_truncated"`
			Lam1     []float64 `json:"gae_lam1_equals_rtg_minus_v"`
			Lam0     []float64 `json:"gae_lam0_equals_td"`
		}
		Multi struct {
			Mask, Rewards, Values []float64
			Gamma, Lam            float64
			Skip                  []float64                                           `json:"skip_observation"`
			Naive                 []float64                                           `json:"naive_wrong"`
			White                 []float64                                           `json:"skip_observation_whitened"`
			Trailing              struct{ Mask, Rewards, Values, Expected []float64 } `json:"reward_on_trailing_observation"`
			Gap                   struct{ Rewards, Mask, Expected []float64 }         `json:"rtg_across_gap_gamma1"`
			Bilevel               struct {
				Values    []float64
				Ends      []int     `json:"turn_end_index"`
				Rewards   []float64 `json:"turn_rewards"`
				GammaTurn float64   `json:"gamma_turn"`
				GammaTok  float64   `json:"gamma_token"`
				Lam       float64
				Want      []float64 `json:"expected_unwhitened"`
			} `json:"bilevel_gae"`
		} `json:"multi_turn"`
		Turn struct {
			Rewards []float64 `json:"turn_rewards"`
			Tokens  []int     `json:"tokens_per_turn"`
			Gamma   float64   `json:"gamma_turn"`
			Returns []float64 `json:"turn_returns"`
			PerTok  []float64 `json:"token_returns"`
		} `json:"turn_level"`
	}
	golden(t, "returns_gae", &g)

	d := make([]float64, 4)
	for gamma, want := range map[float64][]float64{1: g.Expected.RTG["1.0"], .9: g.Expected.RTG["0.9"], .5: g.Expected.RTG["0.5"]} {
		rl.ReturnsToGo(d, g.Rewards, gamma)
		nearAll(t, "rtg", d, want)
	}
	add := func(a, b []float64) []float64 {
		out := make([]float64, len(a))
		for i := range a {
			out[i] = a[i] + b[i]
		}
		return out
	}
	rl.GAE(d, g.Rewards, g.Values, 0, g.Gamma, g.Lam)
	nearAll(t, "gae terminated", d, g.Expected.Term)
	nearAll(t, "returns terminated", add(d, g.Values), g.Expected.RetTerm)
	rl.GAE(d, g.Rewards, g.Values, g.Bootstrap, g.Gamma, g.Lam)
	nearAll(t, "gae truncated", d, g.Expected.Trunc)
	nearAll(t, "returns truncated", add(d, g.Values), g.Expected.RetTrunc)
	rl.GAE(d, g.Rewards, g.Values, 0, g.Gamma, 1)
	nearAll(t, "lambda 1", d, g.Expected.Lam1)
	rl.GAE(d, g.Rewards, g.Values, 0, g.Gamma, 0)
	nearAll(t, "lambda 0", d, g.Expected.Lam0)

	m := g.Multi
	d = make([]float64, len(m.Mask))
	rl.MaskedGAE(d, m.Rewards, m.Values, bools(m.Mask), 0, m.Gamma, m.Lam)
	nearAll(t, "masked gae", d, m.Skip)
	if math.Abs(d[0]-m.Naive[0]) < 1e-3 {
		t.Error("masked GAE equals the naive one, which bootstraps from observations")
	}
	rl.Whiten(d, bools(m.Mask), 1e-8)
	nearAll(t, "whitened", d, m.White)
	d3 := make([]float64, 3)
	rl.MaskedGAE(d3, m.Trailing.Rewards, m.Trailing.Values, bools(m.Trailing.Mask), 0, m.Gamma, m.Lam)
	nearAll(t, "reward on a trailing observation", d3, m.Trailing.Expected)
	rl.MaskedReturnsToGo(d, m.Gap.Rewards, bools(m.Gap.Mask), 1)
	nearAll(t, "returns across a gap", d, m.Gap.Expected)
	b := m.Bilevel
	rl.BilevelGAE(d, b.Values, b.Ends, b.Rewards, b.GammaTurn, b.GammaTok, b.Lam)
	nearAll(t, "bilevel", d, b.Want)

	ret := make([]float64, 3)
	rl.ReturnsToGo(ret, g.Turn.Rewards, g.Turn.Gamma)
	nearAll(t, "turn returns", ret, g.Turn.Returns)
	nearAll(t, "token returns", rl.TurnReturns(g.Turn.Rewards, g.Turn.Tokens, g.Turn.Gamma), g.Turn.PerTok)
}

func TestGoldenValueLoss(t *testing.T) {
	var g struct {
		V, Returns []float64
		VOld       []float64 `json:"v_old"`
		Clip       float64
		Expected   struct {
			Unclipped float64   `json:"loss_unclipped"`
			Clipped   float64   `json:"loss_clipped"`
			Frac      float64   `json:"clip_frac"`
			EV        float64   `json:"explained_variance"`
			Grad      []float64 `json:"grad_v_clipped_loss"`
		}
	}
	golden(t, "value_loss", &g)
	grad := make([]float64, len(g.V))
	loss, _ := rl.ValueLoss(grad, g.V, g.VOld, g.Returns, 0)
	near(t, "unclipped", loss, g.Expected.Unclipped)
	loss, frac := rl.ValueLoss(grad, g.V, g.VOld, g.Returns, g.Clip)
	near(t, "clipped", loss, g.Expected.Clipped)
	near(t, "frac", frac, g.Expected.Frac)
	nearAll(t, "grad", grad, g.Expected.Grad)
	near(t, "explained variance", rl.ExplainedVariance(g.V, g.Returns), g.Expected.EV)
}

func TestGoldenGiGPO(t *testing.T) {
	var g struct {
		Trajectories []struct {
			Obs []string
			Rew []float64
		}
		Gamma, Omega float64
		Expected     struct {
			Returns   [][]float64 `json:"discounted_returns"`
			AE        []float64   `json:"A_E_Fnorm1"`
			AEStd     []float64   `json:"A_E_std_unbiased_eps1e-6"`
			AS        [][]float64 `json:"A_S_Fnorm1"`
			ASStd     [][]float64 `json:"A_S_std"`
			Joint     [][]float64 `json:"A_joint_Fnorm1"`
			JointStd  [][]float64 `json:"A_joint_std"`
			TurnIndex [][]float64 `json:"turn_index_groups_centered_rtg"`
		}
	}
	golden(t, "gigpo", &g)
	var keys [][]string
	var returns [][]float64
	var episode []float64
	for i, tr := range g.Trajectories {
		d := make([]float64, len(tr.Rew))
		rl.ReturnsToGo(d, tr.Rew, g.Gamma)
		nearAll(t, "returns", d, g.Expected.Returns[i])
		keys, returns = append(keys, tr.Obs), append(returns, d)
		sum := 0.0
		for _, r := range tr.Rew {
			sum += r
		}
		episode = append(episode, sum)
	}
	ae, aeStd := make([]float64, 3), make([]float64, 3)
	rl.Center(ae, episode, nil)
	rl.Standardize(aeStd, episode, nil, 1, 1e-6)
	nearAll(t, "A_E", ae, g.Expected.AE)
	nearAll(t, "A_E std", aeStd, g.Expected.AEStd)
	as := rl.AnchorAdvantages(keys, returns, false, 0)
	asStd := rl.AnchorAdvantages(keys, returns, true, 1e-6)
	turn := rl.StepIndexAdvantages(returns)
	for i := range as {
		nearAll(t, "A_S", as[i], g.Expected.AS[i])
		nearAll(t, "A_S std", asStd[i], g.Expected.ASStd[i])
		nearAll(t, "turn index", turn[i], g.Expected.TurnIndex[i])
		for k := range as[i] {
			near(t, "joint", ae[i]+g.Omega*as[i][k], g.Expected.Joint[i][k])
			near(t, "joint std", aeStd[i]+g.Omega*asStd[i][k], g.Expected.JointStd[i][k])
		}
	}
}
