package rl_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// lossBatch is two sequences of six tokens.
type lossBatch struct {
	New     [][]float64 `json:"logp_new"`
	Old     [][]float64 `json:"logp_old"`
	Ref     [][]float64 `json:"logp_ref"`
	Sampler [][]float64 `json:"logp_sampler"`
	Mask    [][]float64
	Adv     []float64 `json:"advantage_per_seq"`
}

func (b *lossBatch) chosen() []int {
	n := make([]int, len(b.Mask))
	for i, m := range b.Mask {
		for _, x := range m {
			n[i] += int(x)
		}
	}
	return n
}

// each visits the chosen tokens.
func (b *lossBatch) each(f func(i, t int)) {
	for i := range b.Mask {
		for t := range b.Mask[i] {
			if b.Mask[i][t] == 1 {
				f(i, t)
			}
		}
	}
}

func TestGoldenClippedLosses(t *testing.T) {
	var b lossBatch
	golden(t, "policy_losses", &b)
	var g struct{ Expected map[string]json.RawMessage }
	golden(t, "policy_losses", &g)
	for name, clip := range map[string]rl.Clip{
		"ppo_clip_0.2":       {Low: .2, High: .2},
		"dapo_clip_0.2_0.28": {Low: .2, High: .28},
		"dual_clip_c1.5":     {Low: .2, High: .2, Dual: 1.5},
	} {
		var want struct {
			Token [][]float64 `json:"token_loss"`
			Loss  map[string]float64
			Grad  [][]float64 `json:"grad_logp_token_mean"`
		}
		if err := json.Unmarshal(g.Expected[name], &want); err != nil {
			t.Fatal(err)
		}
		for agg, wantLoss := range want.Loss {
			w := rl.Aggregation(agg).Weights(b.chosen(), 10)
			total := 0.0
			b.each(func(i, k int) {
				l, grad, _ := rl.PPO(b.Adv[i], b.New[i][k], b.Old[i][k], clip)
				near(t, name+" token loss", l, want.Token[i][k])
				if agg == string(rl.TokenMean) {
					near(t, name+" gradient", grad*w[i], want.Grad[i][k])
				}
				total += l * w[i]
			})
			near(t, name+" "+agg, total, wantLoss)
		}
	}
}

func TestGoldenSequenceAndWeightedLosses(t *testing.T) {
	var b lossBatch
	golden(t, "policy_losses", &b)
	var g struct {
		Expected struct {
			GSPO struct {
				Ratio []float64   `json:"seq_ratio"`
				Seq   []float64   `json:"seq_loss"`
				Loss  float64     `json:"loss_seq_mean"`
				Grad  [][]float64 `json:"grad_logp"`
			} `json:"gspo_0.03_0.04"`
			GSPOOpen struct {
				Loss float64     `json:"loss_seq_mean"`
				Grad [][]float64 `json:"grad_logp"`
			} `json:"gspo_unclipped_0.5"`
			CISPO struct {
				Weight [][]float64
				Loss   float64     `json:"loss_token_mean"`
				Grad   [][]float64 `json:"grad_logp_token_mean"`
			} `json:"cispo_verl_1-0.2_1+0.28"`
			CISPOMax struct {
				Weight [][]float64
				Loss   float64     `json:"loss_token_mean"`
				Grad   [][]float64 `json:"grad_logp_token_mean"`
			} `json:"cispo_trl_max1.4"`
			TIS     struct{ Weight [][]float64 } `json:"tis_token_cap2"`
			MIS     struct{ Weight [][]float64 } `json:"mis_token_0.5_2"`
			TISSeq  struct{ Weight []float64 }   `json:"tis_seq_cap2"`
			Geo     []float64                    `json:"seq_geo_mean_ratio"`
			WithTIS float64                      `json:"ppo_with_token_tis_token_mean"`
		}
	}
	golden(t, "policy_losses", &g)
	e := g.Expected

	for _, c := range []struct {
		clip rl.Clip
		loss float64
		grad [][]float64
	}{{rl.Clip{Low: .03, High: .04}, e.GSPO.Loss, e.GSPO.Grad}, {rl.Clip{Low: .5, High: .5}, e.GSPOOpen.Loss, e.GSPOOpen.Grad}} {
		loss := 0.0
		for i := range b.New {
			grad := make([]float64, 6)
			l, ratio, _ := rl.GSPO(grad, b.Adv[i], b.New[i], b.Old[i], bools(b.Mask[i]), c.clip)
			near(t, "gspo ratio", ratio, e.GSPO.Ratio[i])
			loss += l / 2
			for k := range grad {
				near(t, "gspo gradient", grad[k]/2, c.grad[i][k])
			}
		}
		near(t, "gspo loss", loss, c.loss)
	}

	w := rl.TokenMean.Weights(b.chosen(), 0)
	cispo, cispoMax, withTIS := 0.0, 0.0, 0.0
	seq := make([]float64, 2)
	b.each(func(i, k int) {
		l, grad, weight := rl.CISPO(b.Adv[i], b.New[i][k], b.Old[i][k], .8, 1.28)
		near(t, "cispo weight", weight, e.CISPO.Weight[i][k])
		near(t, "cispo gradient", grad*w[i], e.CISPO.Grad[i][k])
		cispo += l * w[i]
		l, grad, weight = rl.CISPO(b.Adv[i], b.New[i][k], b.Old[i][k], 0, 1.4)
		near(t, "cispo max weight", weight, e.CISPOMax.Weight[i][k])
		near(t, "cispo max gradient", grad*w[i], e.CISPOMax.Grad[i][k])
		cispoMax += l * w[i]
		tis := rl.CorrectTruncate.Weight(b.Old[i][k], b.Sampler[i][k], 0, 2)
		near(t, "tis", tis, e.TIS.Weight[i][k])
		near(t, "mis", rl.CorrectMask.Weight(b.Old[i][k], b.Sampler[i][k], .5, 2), e.MIS.Weight[i][k])
		l, _, _ = rl.PPO(b.Adv[i], b.New[i][k], b.Old[i][k], rl.Clip{Low: .2, High: .2})
		withTIS += l * tis * w[i]
		seq[i] += b.Old[i][k] - b.Sampler[i][k]
	})
	near(t, "cispo", cispo, e.CISPO.Loss)
	near(t, "cispo max", cispoMax, e.CISPOMax.Loss)
	near(t, "ppo with tis", withTIS, e.WithTIS)
	for i := range seq {
		near(t, "sequence tis", rl.CorrectTruncate.Weight(seq[i], 0, 0, 2), e.TISSeq.Weight[i])
		near(t, "geometric mean", rl.Ratio(seq[i]/float64(b.chosen()[i]), 0), e.Geo[i])
	}
}

// TestGoldenMetrics covers P25 too: the three definitions of a clip fraction
// differ on one batch.
func TestGoldenMetrics(t *testing.T) {
	var b lossBatch
	golden(t, "policy_losses", &b)
	var g struct {
		Expected struct {
			KL struct {
				K1, K2, K3 struct {
					Token [][]float64
					Mean  float64 `json:"token_mean"`
				}
				IS     float64     `json:"k3_times_ratio_token_mean"`
				GradK2 [][]float64 `json:"grad_k2_token"`
				GradK3 [][]float64 `json:"grad_k3_token"`
			}
			InReward []float64 `json:"kl_in_reward_beta0.1_total_per_seq"`
			Metrics  map[string]float64
		}
	}
	golden(t, "policy_losses", &g)
	e := g.Expected
	var m rl.Meter
	clip := rl.Clip{Low: .2, High: .2}
	k1, k2, k3, is := 0.0, 0.0, 0.0, 0.0
	inReward := make([]float64, 2)
	b.each(func(i, k int) {
		n, o, r := b.New[i][k], b.Old[i][k], b.Ref[i][k]
		rho := rl.Ratio(n, o)
		near(t, "k1", rl.K1.Value(n, r, rho), e.KL.K1.Token[i][k])
		near(t, "k2", rl.K2.Value(n, r, rho), e.KL.K2.Token[i][k])
		near(t, "k3", rl.K3.Value(n, r, rho), e.KL.K3.Token[i][k])
		near(t, "grad k1", rl.K1.Grad(n, r, rho), 1)
		near(t, "grad k2", rl.K2.Grad(n, r, rho), e.KL.GradK2[i][k])
		near(t, "grad k3", rl.K3.Grad(n, r, rho), e.KL.GradK3[i][k])
		k1 += rl.K1.Value(n, r, rho) / 8
		k2 += rl.K2.Value(n, r, rho) / 8
		k3 += rl.K3.Value(n, r, rho) / 8
		is += rl.K3IS.Value(n, r, rho) / 8
		inReward[i] -= .1 * rl.K1.Value(o, r, 1)
		_, _, side := rl.PPO(b.Adv[i], n, o, clip)
		m.Policy(n, o, side, clip)
		m.Sampler(o, b.Sampler[i][k])
	})
	nearAll(t, "k1 in the reward", inReward, e.InReward)
	near(t, "k1 mean", k1, e.KL.K1.Mean)
	near(t, "k2 mean", k2, e.KL.K2.Mean)
	near(t, "k3 mean", k3, e.KL.K3.Mean)
	near(t, "k3 with ratio", is, e.KL.IS)
	s := m.Stats()
	for golden, ours := range map[string]string{
		"approx_kl_k1_old_new": "approx_kl_k1", "approx_kl_k3_old_new": "approx_kl",
		"clip_frac_low_0.2": "clip_frac_low", "clip_frac_high_0.2": "clip_frac_high",
		"cleanrl_clipfrac_abs_0.2": "clip_frac_abs", "ratio_max": "ratio_max",
		"sampler_mismatch_abs_mean": "sampler_abs_logp_diff_mean", "sampler_mismatch_k3": "sampler_mismatch_k3",
		"ess_fraction_token_tis": "is_weight_ess",
	} {
		near(t, ours, s[ours], e.Metrics[golden])
	}
}

// TestGoldenKL enumerates the vocabulary: only k2 and rho*k3 have the reverse
// KL's gradient, k3 has the forward one's and k1 none.
func TestGoldenKL(t *testing.T) {
	var g struct {
		Logits    []float64
		RefLogits []float64 `json:"ref_logits"`
		Expected  struct {
			Reverse float64              `json:"reverse_kl"`
			Value   map[string]float64   `json:"E_value"`
			Grad    map[string][]float64 `json:"E_grad_when_used_as_loss"`
			True    []float64            `json:"true_grad_reverse_kl"`
		}
	}
	golden(t, "kl_estimators_exact", &g)
	lp, lr := logSoftmax(g.Logits, 1), logSoftmax(g.RefLogits, 1)
	for name, k := range map[string]rl.KL{"k1": rl.K1, "k2": rl.K2, "k3": rl.K3, "k3_times_ratio": rl.K3IS} {
		value, grad := 0.0, make([]float64, 3)
		for a := range lp {
			p := math.Exp(lp[a])
			value += p * k.Value(lp[a], lr[a], 1)
			for j := range grad {
				d := -math.Exp(lp[j])
				if j == a {
					d++
				}
				grad[j] += p * k.Grad(lp[a], lr[a], 1) * d
			}
		}
		if want, ok := g.Expected.Value[name]; ok {
			near(t, name, value, want)
		}
		nearAll(t, "gradient of "+name, grad, g.Expected.Grad[name])
	}
	nearAll(t, "k2 is reverse KL", g.Expected.Grad["k2"], g.Expected.True)
	if rl.K1.CheckLoss() == nil || rl.KL("x").CheckLoss() == nil {
		t.Error("k1 as a loss and unknown estimators must be refused")
	}
	if err := rl.K3IS.CheckLoss(); err != nil {
		t.Error(err)
	}
}

func logSoftmax(z []float64, temperature float64) []float64 {
	hi := math.Inf(-1)
	for _, x := range z {
		hi = max(hi, x/temperature)
	}
	sum := 0.0
	for _, x := range z {
		sum += math.Exp(x/temperature - hi)
	}
	out := make([]float64, len(z))
	for i, x := range z {
		out[i] = x/temperature - hi - math.Log(sum)
	}
	return out
}

// TestGoldenTemperature checks the chain from dLoss/dlogp and dLoss/dentropy to
// logits, with the temperature the tokens were drawn at, and that forgetting
// it shows in the ratio.
func TestGoldenTemperature(t *testing.T) {
	var g struct {
		Logits      [][]float64
		Actions     []int
		Advantages  []float64
		Temperature float64
		EntropyCoef float64 `json:"entropy_coef"`
		Expected    struct {
			LogPT   []float64 `json:"logp_T0.5"`
			LogP1   []float64 `json:"logp_T1"`
			Entropy []float64 `json:"entropy_T0.5"`
			Loss    float64
			Grad    [][]float64 `json:"grad_logits"`
			Wrong   []float64   `json:"wrong_ratio_if_T_forgotten_at_update"`
		}
	}
	golden(t, "softmax_temperature", &g)
	loss := 0.0
	for i, z := range g.Logits {
		a := g.Actions[i]
		lp := logSoftmax(z, g.Temperature)
		near(t, "logp", lp[a], g.Expected.LogPT[i])
		near(t, "logp at 1", logSoftmax(z, 1)[a], g.Expected.LogP1[i])
		near(t, "wrong ratio", rl.Ratio(logSoftmax(z, 1)[a], lp[a]), g.Expected.Wrong[i])
		h := 0.0
		for _, l := range lp {
			h -= math.Exp(l) * l
		}
		near(t, "entropy", h, g.Expected.Entropy[i])
		l, dlogp := rl.Reinforce(g.Advantages[i], lp[a], 1)
		loss += l/2 - g.EntropyCoef*h/2
		grad := make([]float64, len(z))
		for j := range z {
			p := math.Exp(lp[j])
			d := -p
			if j == a {
				d++
			}
			grad[j] = dlogp/2*d/g.Temperature + g.EntropyCoef/2*p*(lp[j]+h)/g.Temperature
		}
		nearAll(t, "logit gradient", grad, g.Expected.Grad[i])
	}
	near(t, "loss", loss, g.Expected.Loss)
}
