package policy_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// TestProcessorsDoNotMatter compares parameters after three updates at
// GOMAXPROCS 1, 2 and 7, bit for bit.
func TestProcessorsDoNotMatter(t *testing.T) {
	var want []float32
	for _, procs := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(procs)
		p := policy.NewTransformer(smallConfig(), 4)
		for step := range 3 {
			b := randomBatch(uint64(step), 31, 40, 90)
			if step > 0 {
				b = family(rand.New(rand.NewPCG(uint64(step), 3)), 9, 8)
			}
			clear(p.Grads())
			p.Accumulate(b, nll(b))
			for i, g := range p.Grads() {
				p.Params()[i] -= 0.5 * g
			}
		}
		runtime.GOMAXPROCS(old)
		if want == nil {
			want = slices.Clone(p.Params())
		}
		if !slices.Equal(want, p.Params()) {
			t.Fatalf("parameters at GOMAXPROCS %d differ", procs)
		}
	}
}

// TestAccumulateAdds checks that the ranges of grad are a partition into whole
// sequences, that gradients are added to what is there, and that Accumulate's
// log-probabilities are those of LogProbs.
func TestAccumulateAdds(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	b := randomBatch(1, 31, 40, 90)
	seen := make([]int32, len(b.Tokens))
	set := nll(b)
	grad := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			seen[i]++
		}
		if !slices.Contains(b.Starts, int32(lo)) || !slices.Contains(b.Starts, int32(hi)) {
			t.Errorf("range [%d,%d) cuts a sequence", lo, hi)
		}
		set(lo, hi)
	}
	p.Accumulate(b, grad)
	if slices.Max(seen) != 1 || slices.Min(seen) != 1 {
		t.Error("the ranges are not a partition")
	}
	lp, once := slices.Clone(b.LogP), slices.Clone(p.Grads())
	p.LogProbs(b)
	if !slices.Equal(lp, b.LogP) {
		t.Error("Accumulate and LogProbs disagree")
	}
	p.Accumulate(b, nll(b))
	for i, g := range p.Grads() {
		if math.Abs(float64(g-2*once[i])) > 1e-6*math.Abs(float64(g))+1e-12 {
			t.Fatalf("gradient %d: %g after one pass, %g after two", i, once[i], g)
		}
	}
}

// TestSequenceAloneOrPacked is P5: a sequence's log-probabilities are the same
// bits alone and between others.
func TestSequenceAloneOrPacked(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	b := randomBatch(3, 31, 12, 60)
	p.LogProbs(b)
	for s := range len(b.Starts) - 1 {
		lo, hi := b.Starts[s], b.Starts[s+1]
		one := batchOf(b.Tokens[lo:hi])
		copy(one.Need, b.Need[lo:hi])
		p.LogProbs(one)
		if !slices.Equal(one.LogP, b.LogP[lo:hi]) || !slices.Equal(one.Entropy, b.Entropy[lo:hi]) {
			t.Fatalf("sequence %d differs when it is alone", s)
		}
	}
}

// TestUnwantedTokensDoNotMatter is P3 and P26: NaN in whatever the caller left
// at unwanted places reaches neither log-probabilities nor gradients.
func TestUnwantedTokensDoNotMatter(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	b := randomBatch(2, 31, 20, 60)
	p.Accumulate(b, nll(b))
	want, lp := slices.Clone(p.Grads()), slices.Clone(b.LogP)
	clear(p.Grads())
	nan := float32(math.NaN())
	set := nll(b)
	for i := range b.LogP {
		b.LogP[i], b.Entropy[i] = nan, nan
	}
	p.Accumulate(b, func(lo, hi int) {
		set(lo, hi)
		for i := lo; i < hi; i++ {
			if !b.Need[i] || slices.Contains(b.Starts, int32(i)) {
				b.DLogP[i], b.DEntropy[i] = nan, nan
			}
		}
	})
	if !slices.Equal(want, p.Grads()) || !slices.Equal(lp, b.LogP) {
		t.Error("values at unwanted tokens changed the result")
	}
	for s, lo := range b.Starts[:len(b.Starts)-1] {
		if b.LogP[lo] != 0 || b.Entropy[lo] != 0 {
			t.Errorf("sequence %d: the first token has a log-probability", s)
		}
	}
}

// TestShift is P4: log-probabilities belong to the token they stand at. The
// log-probabilities of all tokens at one place add up to one, and change with
// the token there and with no later one.
func TestShift(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	seq := []int32{7, 1, 9, 4, 4, 2}
	var sum float64
	var first []float32
	for v := range int32(31) {
		seq[3] = v
		b := batchOf(seq)
		p.LogProbs(b)
		sum += math.Exp(float64(b.LogP[3]))
		if first == nil {
			first = slices.Clone(b.LogP)
		}
		if !slices.Equal(first[:3], b.LogP[:3]) {
			t.Fatal("a later token changed an earlier log-probability")
		}
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("probabilities at one place add up to %g", sum)
	}
}

// TestMicroBatches is P17: one batch, or the same sequences in pieces, give the
// same gradient but for rounding.
func TestMicroBatches(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	b := randomBatch(2, 31, 20, 60)
	p.Accumulate(b, nll(b))
	whole := slices.Clone(p.Grads())
	clear(p.Grads())
	set := nll(b)
	set(0, len(b.Tokens))
	for s := 0; s < 20; s += 5 {
		lo, hi := b.Starts[s], b.Starts[s+5]
		part := &policy.Batch{
			Tokens: b.Tokens[lo:hi], Need: b.Need[lo:hi], LogP: b.LogP[lo:hi], Entropy: b.Entropy[lo:hi],
			DLogP: b.DLogP[lo:hi], DEntropy: b.DEntropy[lo:hi],
		}
		for _, st := range b.Starts[s : s+6] {
			part.Starts = append(part.Starts, st-lo)
		}
		p.Accumulate(part, func(int, int) {})
	}
	var diff, norm float64
	for i, g := range p.Grads() {
		diff += math.Pow(float64(g-whole[i]), 2)
		norm += math.Pow(float64(g), 2)
	}
	if rel := math.Sqrt(diff / norm); !(rel < 1e-5) {
		t.Errorf("gradients of pieces differ by %g", rel)
	}
}

// leastAllocations is the least number of allocations of f in several tries on
// as many processors as there are; testing.AllocsPerRun would use one.
func leastAllocations(f func()) uint64 {
	least := ^uint64(0)
	var before, after runtime.MemStats
	for range 20 {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// TestNoAllocations checks that a step allocates nothing once it has warmed up,
// on one processor and on several.
func TestNoAllocations(t *testing.T) {
	for _, procs := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			noAllocations(t)
		})
	}
}

func noAllocations(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	for name, b := range map[string]*policy.Batch{
		"alone": randomBatch(2, 31, 20, 60), "groups": family(rand.New(rand.NewPCG(5, 5)), 6, 8),
	} {
		set := nll(b)
		p.Accumulate(b, set)
		if n := leastAllocations(func() { p.Accumulate(b, set) }); n != 0 {
			t.Errorf("%s: Accumulate allocates %d times", name, n)
		}
	}
	s := p.NewSampler(24)
	for m := range 24 {
		s.Want(s.Begin(policy.StreamKey{Member: uint64(m)}, policy.SampleConfig{Temperature: 1}, []int32{5, 6, 7}), 80, nil)
	}
	for range 40 {
		s.Step()
	}
	if n := leastAllocations(func() { s.Step() }); n != 0 {
		t.Errorf("Step allocates %d times", n)
	}
}

func TestSaveLoad(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	var buf bytes.Buffer
	if err := p.Save(&buf); err != nil {
		t.Fatal(err)
	}
	good := buf.Bytes()
	q, err := policy.LoadTransformer(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if q.Config() != p.Config() || !slices.Equal(q.Params(), p.Params()) {
		t.Error("what was loaded is not what was saved")
	}
	var again bytes.Buffer
	if err := q.Save(&again); err != nil || !bytes.Equal(again.Bytes(), good) {
		t.Errorf("saving again gives other bytes (%v)", err)
	}
	bad := map[string][]byte{
		"empty":     {},
		"short":     good[:len(good)-1],
		"long":      append(slices.Clone(good), 0),
		"no header": good[:100],
		"huge":      append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, good[8:]...),
		"shape":     bytes.Replace(good, []byte(`"shape":[24,96]`), []byte(`"shape":[96,24]`), 1),
		"dtype":     bytes.Replace(good, []byte(`"F32"`), []byte(`"F16"`), 1),
		"config":    bytes.Replace(good, []byte(`\"dim\":24`), []byte(`\"dim\":48`), 1),
		"nan":       append(slices.Clone(good[:len(good)-4]), 0, 0, 0xc0, 0x7f),
	}
	for name, b := range bad {
		if bytes.Equal(b, good) {
			t.Fatalf("%s: the case changes nothing", name)
		}
		if _, err := policy.LoadTransformer(bytes.NewReader(b)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

// FuzzLoadTransformer feeds headers that lie. Whatever loads must survive being
// saved and loaded again.
func FuzzLoadTransformer(f *testing.F) {
	cfg := policy.TransformerConfig{Vocab: 3, Context: 4, Dim: 4, Layers: 1, Heads: 2}
	var buf bytes.Buffer
	if err := policy.NewTransformer(cfg, 1).Save(&buf); err != nil {
		f.Fatal(err)
	}
	good := buf.Bytes()
	f.Add(good)
	for _, lie := range [][2]string{
		{`\"dim\":4`, `\"dim\":9`},
		{`\"heads\":2`, `\"heads\":0`},
		{`\"layers\":1`, `\"layers\":9`},
		{`\"vocab\":3`, `\"vocab\":-`},
		{`\"rope_base\":10000`, `\"rope_base\":-1000`},
		{`"F32"`, `[1,2]`},
	} {
		f.Add(bytes.ReplaceAll(good, []byte(lie[0]), []byte(lie[1])))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := policy.LoadTransformer(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := p.Save(&again); err != nil {
			t.Fatal(err)
		}
		if q, err := policy.LoadTransformer(bytes.NewReader(again.Bytes())); err != nil || !slices.Equal(q.Params(), p.Params()) {
			t.Errorf("loaded, saved and loaded again: %v", err)
		}
	})
}
