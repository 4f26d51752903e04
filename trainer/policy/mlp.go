package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// MLPConfig is the shape of an MLP.
type MLPConfig struct {
	Buckets int `json:"buckets" yaml:"buckets"` // hashed features
	Hidden  int `json:"hidden" yaml:"hidden"`   // width of the hidden layer
}

// Validate reports an impossible shape.
func (c MLPConfig) Validate() error {
	if c.Buckets < 2 || c.Hidden < 1 {
		return fmt.Errorf("policy: mlp needs buckets >= 2 and hidden >= 1")
	}
	return nil
}

// Decision is a choice among candidates, each given by its hashed features and,
// unless Prior is nil, by the score that it has before anything is learned.
type Decision struct {
	Features [][]int32
	Prior    []float32
	Chosen   int
}

// prior is the score that candidate j starts from.
func (d *Decision) prior(j int) float64 {
	if d.Prior == nil {
		return 0
	}
	return float64(d.Prior[j])
}

// MLP scores candidates and chooses among them by softmax. A candidate with
// features F has the score
//
//	s = o . tanh(b + sum over F of E[f]) + sum over F of w[f]
//
// to which the prior of the candidate is added.
//
// It implements Trainable: a token is the number of a decision that Record has
// noted, and the first token of a sequence stands for its beginning.
type MLP struct {
	cfg    MLPConfig
	params []float32
	grads  []float32
	table  *[]Decision // recorded ones, also those of a policy that shares them
	shards [][]float32 // gradient buffers, one for each shard
}

// mlpShards is the number of parts that a batch's gradient is computed in; it
// is fixed so that the sum does not depend on the machine.
const mlpShards = 4

// NewMLP is a fresh MLP; its parameters depend on cfg and seed only.
func NewMLP(cfg MLPConfig, seed uint64) *MLP {
	if err := cfg.Validate(); err != nil {
		panic(err.Error())
	}
	n := cfg.Buckets*cfg.Hidden + 2*cfg.Hidden + cfg.Buckets
	m := &MLP{cfg: cfg, params: make([]float32, n), grads: make([]float32, n), table: new([]Decision)}
	rng := rand.New(rand.NewPCG(seed, 0x6d6c70))
	e, _, o, _ := m.views(m.params)
	for i := range e {
		e[i] = float32(0.05 * rng.NormFloat64())
	}
	for i := range o {
		o[i] = float32(rng.NormFloat64() / math.Sqrt(float64(cfg.Hidden)))
	}
	return m
}

// Config is the shape of m.
func (m *MLP) Config() MLPConfig { return m.cfg }

// views cuts a flat vector into embeddings (B,H), bias (H), output (H) and
// linear weights (B).
func (m *MLP) views(x []float32) (e, b, o, w []float32) {
	n, h := m.cfg.Buckets*m.cfg.Hidden, m.cfg.Hidden
	return x[:n], x[n : n+h], x[n+h : n+2*h], x[n+2*h:]
}

// Params implements Trainable.
func (m *MLP) Params() []float32 { return m.params }

// Grads implements Trainable.
func (m *MLP) Grads() []float32 { return m.grads }

// Tensors implements Trainable.
func (m *MLP) Tensors() []Tensor {
	n, h := m.cfg.Buckets*m.cfg.Hidden, m.cfg.Hidden
	return []Tensor{
		{Name: "embed.weight", Lo: 0, Hi: n, Shape: []int{m.cfg.Buckets, h}, Decay: true},
		{Name: "hidden.bias", Lo: n, Hi: n + h, Shape: []int{h}},
		{Name: "output.weight", Lo: n + h, Hi: n + 2*h, Shape: []int{h}, Decay: true},
		{Name: "linear.weight", Lo: n + 2*h, Hi: len(m.params), Shape: []int{m.cfg.Buckets}, Decay: true},
	}
}

// Record notes a decision and returns its token.
func (m *MLP) Record(d Decision) int32 {
	*m.table = append(*m.table, d)
	return int32(len(*m.table) - 1)
}

// Forget drops all recorded decisions; their tokens become meaningless.
func (m *MLP) Forget() { *m.table = (*m.table)[:0] }

// ShareDecisions makes the tokens of from mean the same to m: a reference policy
// judges the decisions that the policy in training recorded.
func (m *MLP) ShareDecisions(from *MLP) { m.table = from.table }

// Distribution writes the log-probabilities of a decision's candidates at a
// temperature and returns their entropy.
func (m *MLP) Distribution(dst []float64, d *Decision, temperature float64) float64 {
	hidden := make([]float32, m.cfg.Hidden)
	for j, f := range d.Features {
		dst[j] = (m.score(hidden, f) + d.prior(j)) / temperature
	}
	return mlpLogSoftmax(dst)
}

// score is the score of one candidate; hidden receives its tanh layer.
func (m *MLP) score(hidden []float32, features []int32) float64 {
	e, b, o, w := m.views(m.params)
	h := m.cfg.Hidden
	copy(hidden, b)
	linear := float32(0)
	for _, f := range features {
		linear += w[f]
		row := e[int(f)*h : int(f)*h+h]
		for k, x := range row {
			hidden[k] += x
		}
	}
	s := float64(linear)
	for k, z := range hidden {
		t := float32(math.Tanh(float64(z)))
		hidden[k] = t
		s += float64(o[k]) * float64(t)
	}
	return s
}

// mlpLogSoftmax turns scores into log-probabilities and returns the entropy.
func mlpLogSoftmax(x []float64) float64 {
	hi := math.Inf(-1)
	for _, v := range x {
		hi = max(hi, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - hi)
	}
	z := hi + math.Log(sum)
	entropy := 0.0
	for i, v := range x {
		x[i] = v - z
		entropy -= math.Exp(x[i]) * x[i]
	}
	return entropy
}

func mlpTemperature(b *Batch) float64 {
	if b.Temperature == 0 {
		return 1
	}
	return float64(b.Temperature)
}

// LogProbs implements Trainable.
func (m *MLP) LogProbs(b *Batch) {
	t := mlpTemperature(b)
	lp := make([]float64, 0, 64)
	for i, id := range b.Tokens {
		b.LogP[i], b.Entropy[i] = 0, 0
		if !b.Need[i] {
			continue
		}
		d := &(*m.table)[id]
		lp = append(lp[:0], make([]float64, len(d.Features))...)
		b.Entropy[i] = float32(m.Distribution(lp, d, t))
		b.LogP[i] = float32(lp[d.Chosen])
	}
}

// Accumulate implements Trainable.
func (m *MLP) Accumulate(b *Batch, grad func(lo, hi int)) {
	m.LogProbs(b)
	for len(m.shards) < mlpShards {
		m.shards = append(m.shards, make([]float32, len(m.params)))
	}
	var wg sync.WaitGroup
	seqs := len(b.Starts) - 1
	for s := range mlpShards {
		lo, hi := int(b.Starts[s*seqs/mlpShards]), int(b.Starts[(s+1)*seqs/mlpShards])
		wg.Go(func() {
			clear(m.shards[s])
			if lo < hi {
				grad(lo, hi)
				m.backward(b, lo, hi, m.shards[s])
			}
		})
	}
	wg.Wait()
	for i := range m.grads {
		m.grads[i] += (m.shards[0][i] + m.shards[1][i]) + (m.shards[2][i] + m.shards[3][i])
	}
}

// backward adds the gradients of tokens [lo,hi) to g.
func (m *MLP) backward(b *Batch, lo, hi int, g []float32) {
	_, _, o, _ := m.views(m.params)
	ge, gb, goo, gw := m.views(g)
	h := m.cfg.Hidden
	t := mlpTemperature(b)
	dz := make([]float32, h)
	for i := lo; i < hi; i++ {
		if !b.Need[i] || b.DLogP[i] == 0 && b.DEntropy[i] == 0 {
			continue
		}
		d := &(*m.table)[b.Tokens[i]]
		hidden := make([]float32, h*len(d.Features))
		lp := make([]float64, len(d.Features))
		for j, f := range d.Features {
			lp[j] = (m.score(hidden[j*h:j*h+h], f) + d.prior(j)) / t
		}
		entropy := mlpLogSoftmax(lp)
		for j, f := range d.Features {
			p := math.Exp(lp[j])
			one := 0.0
			if j == d.Chosen {
				one = 1
			}
			ds := float32((float64(b.DLogP[i])*(one-p) - float64(b.DEntropy[i])*p*(lp[j]+entropy)) / t)
			u := hidden[j*h : j*h+h]
			for k, x := range u {
				goo[k] += ds * x
				dz[k] = ds * o[k] * (1 - x*x)
				gb[k] += dz[k]
			}
			for _, f := range f {
				gw[f] += ds
				row := ge[int(f)*h : int(f)*h+h]
				for k, x := range dz {
					row[k] += x
				}
			}
		}
	}
}

// Uniform is draw n of the stream that k names, in [0,1).
func (k StreamKey) Uniform(n uint64) float64 {
	h := mixHash(k.Seed, 0x51)
	for _, w := range [...]uint64{k.Update, k.Task, k.Member, n} {
		h = mixHash(h, w+0x9e37)
	}
	return float64(h>>11) * 0x1p-53
}
