package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/proctor-rl/proctor/trainer/fastblas"
	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// order asks a side for one turn. Every side is a process that reads orders,
// one line of JSON each, and answers each with a turn.
type order struct {
	What  string `json:"what"`  // train or decode
	Size  string `json:"size"`  // the name of a size
	Batch int    `json:"batch"` // sequences to decode
	Steps int    `json:"steps"` // training steps to time
}

// turn is the answer: the shortest time of a training step, or of a decoding
// run after its prompt, and likewise of processor time, in seconds, the time
// of the prompt, and the last loss, which shows that the work was done. A side
// that takes no part in a contest says that it is absent.
type turn struct {
	Absent  bool    `json:"absent,omitempty"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	Prompt  float64 `json:"prompt,omitempty"`
	Loss    float64 `json:"loss,omitempty"`
}

// greeting is what a side says of itself before its first order.
type greeting struct {
	Name    string `json:"name"`
	Threads int    `json:"threads"`
}

// serve is this project's side.
func serve(in io.Reader, out io.Writer, threads int) error {
	runtime.GOMAXPROCS(threads)
	enc := json.NewEncoder(out)
	name := fmt.Sprintf("trainer (%s, kernels %s)", runtime.Version(), fastblas.Kernels())
	if err := enc.Encode(greeting{name, threads}); err != nil {
		return err
	}
	models := map[string]*model{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		m := models[o.Size]
		if m == nil {
			s, err := sizeNamed(o.Size)
			if err != nil {
				return err
			}
			m = newModel(s)
			models[o.Size] = m
		}
		t := m.decode(o.Batch)
		if o.What == "train" {
			t = m.train(o.Steps)
		}
		if err := enc.Encode(t); err != nil {
			return err
		}
	}
	return nil
}

func sizeNamed(name string) (size, error) {
	for _, s := range sizes {
		if s.name() == name {
			return s, nil
		}
	}
	return size{}, fmt.Errorf("there is no size %q", name)
}

// model is one size with what training and decoding it need.
type model struct {
	policy  *policy.Transformer
	stepper optim.Stepper
	batch   *policy.Batch
	sampler map[int]policy.Sampler
	runs    uint64
}

func newModel(s size) *model {
	p := policy.NewTransformer(s.config(), 1)
	var decayed []optim.Range
	for _, t := range p.Tensors() {
		if t.Decay {
			decayed = append(decayed, optim.Range{Lo: t.Lo, Hi: t.Hi})
		}
	}
	adam := optim.NewAdamW(len(p.Params()), optim.AdamConfig{Beta1: .9, Beta2: .95, Eps: 1e-8, Decay: .1}, decayed)
	rng := rand.New(rand.NewPCG(1, 1))
	var all [][]int32
	var need [][]bool
	for range batch {
		all = append(all, randomTokens(rng, context))
		wanted := make([]bool, context)
		for i := 1; i < context; i++ {
			wanted[i] = true
		}
		need = append(need, wanted)
	}
	return &model{
		policy:  p,
		stepper: optim.Stepper{Adam: adam, Schedule: optim.Schedule{Base: 3e-4, Shape: "constant"}, ClipNorm: 1},
		batch:   &policy.Pack(all, need, tokens, 1)[0].Batch,
		sampler: map[int]policy.Sampler{},
	}
}

func randomTokens(rng *rand.Rand, n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(rng.IntN(vocab))
	}
	return x
}

// train times steps of forward, backward, clipping and AdamW.
func (m *model) train(steps int) turn {
	var t turn
	b := m.batch
	n := float32(tokens - batch)
	for i := range steps {
		start, cpu := time.Now(), processorSeconds()
		m.policy.Accumulate(b, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				b.DLogP[i], b.DEntropy[i] = -1/n, 0
			}
		})
		if _, _, err := m.stepper.Step(m.policy.Params(), m.policy.Grads()); err != nil {
			panic(err) // random tokens at this rate give finite gradients
		}
		now := turn{Seconds: time.Since(start).Seconds(), CPU: processorSeconds() - cpu}
		if i == 0 {
			t = now
		}
		t.Seconds, t.CPU = min(t.Seconds, now.Seconds), min(t.CPU, now.CPU)
	}
	for _, lp := range b.LogP {
		t.Loss -= float64(lp) / float64(n)
	}
	return t
}

// decode continues different prompts by sampled tokens.
func (m *model) decode(sequences int) turn {
	if sequences == 0 {
		return turn{}
	}
	s := m.sampler[sequences]
	if s == nil {
		s = m.policy.NewSampler(sequences)
		m.sampler[sequences] = s
	}
	s.Refresh()
	m.runs++
	rng := rand.New(rand.NewPCG(2, m.runs))
	for i := range sequences {
		id := s.Begin(policy.StreamKey{Update: m.runs, Member: uint64(i)}, policy.SampleConfig{Temperature: 1}, randomTokens(rng, promptLen))
		s.Want(id, sampled, nil)
	}
	start := time.Now()
	done := len(s.Step()) // feeds the prompts and draws the first tokens
	begin, cpu := time.Now(), processorSeconds()
	for done < sequences {
		done += len(s.Step())
	}
	return turn{Seconds: time.Since(begin).Seconds(), CPU: processorSeconds() - cpu, Prompt: begin.Sub(start).Seconds()}
}
