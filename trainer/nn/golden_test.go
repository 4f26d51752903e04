package nn

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestSoftmaxGolden reproduces a policy-gradient loss at temperature 0.5 with
// an entropy bonus, computed by another implementation (P10): forgetting the
// temperature at the update would give ratios of 0.77 and 0.79.
func TestSoftmaxGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/softmax_temperature.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Logits      [][]float64
		Actions     []int
		Advantages  []float64
		Temperature float64
		EntropyCoef float64 `json:"entropy_coef"`
		Expected    struct {
			LogP    []float64   `json:"logp_T0.5"`
			LogP1   []float64   `json:"logp_T1"`
			Entropy []float64   `json:"entropy_T0.5"`
			Loss    float64     `json:"loss"`
			Grad    [][]float64 `json:"grad_logits"`
			Wrong   []float64   `json:"wrong_ratio_if_T_forgotten_at_update"`
		}
		Tolerance float64
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= g.Tolerance) {
			t.Errorf("%s is %.7f, want %.7f", what, got, want)
		}
	}
	loss, n := 0.0, float64(len(g.Actions))
	for i, a := range g.Actions {
		st := logSoftmaxPick(g.Logits[i], a, 1/g.Temperature)
		near("log-probability", st.logp, g.Expected.LogP[i])
		near("entropy", st.entropy, g.Expected.Entropy[i])
		one := logSoftmaxPick(g.Logits[i], a, 1)
		near("log-probability at 1", one.logp, g.Expected.LogP1[i])
		near("wrong ratio", math.Exp(one.logp-st.logp), g.Expected.Wrong[i])
		loss -= (g.Advantages[i]*st.logp + g.EntropyCoef*st.entropy) / n

		f32 := make([]float32, len(g.Logits[i]))
		for j, v := range g.Logits[i] {
			f32[j] = float32(v)
		}
		st32 := logSoftmaxPick(f32, a, float32(1/g.Temperature))
		near("log-probability in float32", float64(st32.logp), g.Expected.LogP[i])
		logSoftmaxPickBackward(f32, a, float32(1/g.Temperature), float32(-g.Advantages[i]/n), float32(-g.EntropyCoef/n), st32)
		logSoftmaxPickBackward(g.Logits[i], a, 1/g.Temperature, -g.Advantages[i]/n, -g.EntropyCoef/n, st)
		for j, want := range g.Expected.Grad[i] {
			near("gradient", g.Logits[i][j], want)
			near("gradient in float32", float64(f32[j]), want)
		}
	}
	near("loss", loss, g.Expected.Loss)
}
