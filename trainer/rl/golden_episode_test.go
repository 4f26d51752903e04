package rl_test

import (
	"testing"

	"github.com/proctor-rl/proctor/trainer/rl"
)

func TestGoldenShaping(t *testing.T) {
	var g struct {
		Rewards  []float64
		Gamma    float64
		Phi      []float64 `json:"phi_including_terminal"`
		Expected struct {
			Shaped    []float64 `json:"shaped_rewards"`
			RTG       []float64
			RTGShaped []float64 `json:"rtg_shaped"`
		}
		PRM struct {
			Scores []float64
			T      float64   `json:"pure_T"`
			Want   []float64 `json:"pure_transformed_rewards"`
			Sum    float64   `json:"pure_outcome_sum"`
		}
		Subtasks struct {
			Weights map[string]float64
			Events  [][]string
			Want    []float64 `json:"step_rewards"`
		}
	}
	golden(t, "shaping_prm", &g)
	d, r := make([]float64, 4), make([]float64, 4)
	// A potential left over at the end must not pay: it is zeroed there.
	phi := append([]float64(nil), g.Phi...)
	phi[4] = 0.9
	rl.Shape(d, g.Rewards, phi, g.Gamma, true)
	nearAll(t, "shaped", d, g.Expected.Shaped)
	rl.ReturnsToGo(r, d, g.Gamma)
	nearAll(t, "shaped returns", r, g.Expected.RTGShaped)
	for i := range r {
		near(t, "identity", r[i], g.Expected.RTG[i]-g.Phi[i])
	}
	rl.MinForm(d, g.PRM.Scores, g.PRM.T)
	nearAll(t, "min form", d, g.PRM.Want)
	near(t, "min form sum", d[0]+d[1]+d[2]+d[3], g.PRM.Sum)
	nearAll(t, "subtasks", rl.OncePerEpisode(g.Subtasks.Events, g.Subtasks.Weights), g.Subtasks.Want)
}

func TestGoldenDAPO(t *testing.T) {
	var g struct {
		Overlong struct {
			L       int `json:"L_max"`
			C       int `json:"L_cache"`
			Lengths []int
			Want    []float64 `json:"expected_penalty"`
		}
		Dynamic struct {
			Acc  map[string][]int
			Keep map[string]bool
		} `json:"dynamic_sampling"`
		Zero struct {
			Rows []struct {
				P    float64
				K    int
				Prob float64
			}
		} `json:"zero_std_probability"`
	}
	golden(t, "dapo_extras", &g)
	for i, n := range g.Overlong.Lengths {
		near(t, "overlong", rl.OverlongPenalty(n, g.Overlong.L, g.Overlong.C), g.Overlong.Want[i])
	}
	for name, acc := range g.Dynamic.Acc {
		passed := 0
		for _, a := range acc {
			passed += a
		}
		if got := rl.Informative(passed, len(acc)); got != g.Dynamic.Keep[name] {
			t.Errorf("group %s kept = %v", name, got)
		}
	}
	if len(g.Zero.Rows) == 0 {
		t.Fatal("no rows")
	}
	for _, r := range g.Zero.Rows {
		near(t, "zero std probability", rl.ZeroStdProbability(r.P, r.K), r.Prob)
	}
}

func TestGoldenEvaluation(t *testing.T) {
	var g struct {
		DPO struct {
			Beta     float64
			LogP     map[string]float64
			Expected struct {
				Loss  float64
				DPiCh float64 `json:"dloss_dpi_chosen"`
			}
		}
		BT struct {
			Diff  []float64 `json:"score_diff"`
			Label []float64
			Want  []float64 `json:"expected_loss"`
		} `json:"reward_model_bt"`
		PassK []struct {
			N, C, K int
			At      float64 `json:"pass@k"`
			Hat     float64 `json:"pass^k"`
		} `json:"pass_at_k"`
		Wilson []struct {
			S, N int
			CI   [2]float64
		} `json:"wilson95"`
		Clustered struct {
			Rewards   [][]float64
			Naive     float64 `json:"naive_se"`
			Clustered float64 `json:"task_clustered_se"`
		}
	}
	golden(t, "preference_eval", &g)
	p := g.DPO.LogP
	loss, grad := rl.DPO(g.DPO.Beta, p["pi_chosen"], p["pi_rejected"], p["ref_chosen"], p["ref_rejected"])
	near(t, "dpo", loss, g.DPO.Expected.Loss)
	near(t, "dpo gradient", grad, g.DPO.Expected.DPiCh)
	for i := range g.BT.Diff {
		near(t, "bradley-terry", rl.BradleyTerry(g.BT.Diff[i], g.BT.Label[i]), g.BT.Want[i])
	}
	if len(g.PassK) == 0 || len(g.Wilson) == 0 {
		t.Fatal("empty golden file")
	}
	for _, c := range g.PassK {
		near(t, "pass@k", rl.PassAtK(c.N, c.C, c.K), c.At)
		near(t, "pass^k", rl.PassHatK(c.N, c.C, c.K), c.Hat)
	}
	for _, c := range g.Wilson {
		lo, hi := rl.Wilson(c.S, c.N)
		near(t, "wilson low", lo, c.CI[0])
		near(t, "wilson high", hi, c.CI[1])
	}
	near(t, "naive se", rl.NaiveSE(g.Clustered.Rewards), g.Clustered.Naive)
	near(t, "clustered se", rl.ClusteredSE(g.Clustered.Rewards), g.Clustered.Clustered)
}
