package policy_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// TestMLPGradient compares the gradient of a loss in log-probabilities and
// entropies with central differences.
func TestMLPGradient(t *testing.T) {
	m := policy.NewMLP(policy.MLPConfig{Buckets: 16, Hidden: 4}, 3)
	for i := range m.Params() {
		m.Params()[i] += 0.1 * float32(math.Sin(float64(i)))
	}
	a := m.Record(policy.Decision{Features: [][]int32{{1, 2, 3}, {4, 2}, {5, 5, 6}}, Prior: []float32{0, -0.5, 0.25}, Chosen: 1})
	b := m.Record(policy.Decision{Features: [][]int32{{7}, {1, 9}}, Chosen: 0})
	p := policy.Pack([][]int32{{-1, a, b}, {-1, b}}, [][]bool{{false, true, true}, {false, true}}, 100, 0.7)[0]
	wl, we := []float32{0, .5, -1, 0, .3}, []float32{0, .2, .1, 0, -.4}
	loss := func() float64 {
		m.LogProbs(&p.Batch)
		s := 0.0
		for i := range p.LogP {
			s += float64(wl[i])*float64(p.LogP[i]) + float64(we[i])*float64(p.Entropy[i])
		}
		return s
	}
	m.Accumulate(&p.Batch, func(lo, hi int) {
		copy(p.DLogP[lo:hi], wl[lo:hi])
		copy(p.DEntropy[lo:hi], we[lo:hi])
	})
	const h = 1e-2
	for i := range m.Params() {
		old := m.Params()[i]
		m.Params()[i] = old + h
		up := loss()
		m.Params()[i] = old - h
		down := loss()
		m.Params()[i] = old
		if fd := (up - down) / (2 * h); math.Abs(fd-float64(m.Grads()[i])) > 2e-3 {
			t.Fatalf("parameter %d: gradient %v, differences %v", i, m.Grads()[i], fd)
		}
	}
}

// TestMLPSavesAndLoads bit for bit, and refuses a cut file.
func TestMLPSavesAndLoads(t *testing.T) {
	m := policy.NewMLP(policy.MLPConfig{Buckets: 8, Hidden: 2}, 1)
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	n, err := policy.LoadMLP(bytes.NewReader(data))
	if err != nil || !slices.Equal(n.Params(), m.Params()) {
		t.Errorf("loaded parameters differ: %v", err)
	}
	if _, err := policy.LoadMLP(bytes.NewReader(data[:len(data)-1])); err == nil {
		t.Error("a cut file was accepted")
	}
}

// TestScene: candidates come from the texts, and nothing else: names of the
// question, then what pages show.
func TestScene(t *testing.T) {
	s := policy.NewScene("Question: What is the sum of the age of Aba and the staff of Bebe?", 1<<20)
	has := func(action string) bool {
		for _, c := range s.Candidates() {
			if c.Action == "Action: "+action+"\n" {
				return true
			}
		}
		return false
	}
	if !has("search[Aba]") || !has("search[Bebe]") || has("search[What]") {
		t.Error("names of the question")
	}
	s.Observe("Action: search[Aba]\n", "Aba: person. book Coco, age ?, salary ?.")
	if !has("lookup[age]") || !has("search[Coco]") {
		t.Error("hidden facts and names of a page")
	}
	s.Observe("Action: lookup[age]\n", "age 31.")
	if has("lookup[age]") || !has("finish[31]") {
		t.Error("a fact that was looked up")
	}
	s.Observe("Action: search[Bebe]\n", "Bebe: firm. staff 7, founder Dudu.")
	if !has("calculator[31 + 7]") || !has("calculator[7 - 31]") {
		t.Error("arithmetic on what was asked for")
	}
	s.Observe("Action: calculator[31 + 7]\n", "38")
	if !has("finish[38]") || has("calculator[31 + 7]") || !has("calculator[7 + 31]") {
		t.Error("the calculator's result, which needs no second computation")
	}
	for _, c := range s.Candidates() {
		if strings.Contains(c.Action, "Question") {
			t.Error(c.Action)
		}
	}
}

// TestSceneSeesEveryRoleOfAName: a name that a page shows behind two words can
// be the answer by either.
func TestSceneSeesEveryRoleOfAName(t *testing.T) {
	s := policy.NewScene("Question: Who is the president of Aba?", 1<<20)
	s.Observe("Action: search[Aba]\n", "Aba: country. general Coco, area 7, president Coco.")
	for _, c := range s.Candidates() {
		if c.Action == "Action: finish[Coco]\n" {
			return
		}
	}
	t.Error("the president is no candidate for an answer")
}

// TestOperatorReadsThePatternOnly: which operator is scored how depends on the
// question without its slots, so that what was learned of the sum of two ages
// holds of the sum of two populations, and not of their product.
func TestOperatorReadsThePatternOnly(t *testing.T) {
	features := func(op, key string) []int32 {
		s := policy.NewScene("Question: What is the "+op+" of the "+key+" of Aba and the "+key+" of Bebe?", 1<<30)
		s.Observe("Action: search[Aba]\n", "Aba: thing. "+key+" 31.")
		s.Observe("Action: search[Bebe]\n", "Bebe: thing. "+key+" 7.")
		for _, c := range s.Candidates() {
			if c.Action == "Action: calculator[31 + 7]\n" {
				return c.Features
			}
		}
		t.Fatalf("no addition for the %s of two %s", op, key)
		return nil
	}
	age := features("sum", "age")
	if !slices.Equal(age, features("sum", "population")) {
		t.Error("the key of a fact changes what is known of an operator")
	}
	own := 0
	product := features("product", "age")
	for _, f := range age {
		if !slices.Contains(product, f) {
			own++
		}
	}
	if own < 3 {
		t.Errorf("a sum and a product differ in %d features of an addition", own)
	}
}

// TestResultIsNoFinishLikeOthers: what is learned of finishing with a number from
// a page says nothing of finishing with the calculator's result.
func TestResultIsNoFinishLikeOthers(t *testing.T) {
	s := policy.NewScene("Question: What is the sum of the age of Aba and the age of Bebe?", 1<<30)
	s.Observe("Action: search[Aba]\n", "Aba: person. age 31.")
	s.Observe("Action: search[Bebe]\n", "Bebe: person. age 7.")
	s.Observe("Action: calculator[31 + 7]\n", "38")
	of := map[string][]int32{}
	for _, c := range s.Candidates() {
		of[c.Action] = c.Features
	}
	result, shown := of["Action: finish[38]\n"], of["Action: finish[31]\n"]
	if len(result) == 0 || len(shown) == 0 {
		t.Fatal("a finish is missing")
	}
	for _, f := range result {
		if slices.Contains(shown, f) {
			t.Error("both finishes share a feature")
		}
	}
}

// TestPack: sequences stay whole and in order.
func TestPack(t *testing.T) {
	seqs := [][]int32{{1, 2}, {3}, {4, 5, 6}, {7}}
	need := [][]bool{{false, true}, {true}, {false, false, true}, {true}}
	packs := policy.Pack(seqs, need, 4, 1)
	var got []int32
	seen := 0
	for _, p := range packs {
		if len(p.Tokens) > 4 {
			t.Errorf("batch of %d tokens", len(p.Tokens))
		}
		got = append(got, p.Tokens...)
		p.Sequences(0, len(p.Tokens), func(seq, lo, hi int) {
			if seq != seen || !slices.Equal(p.Tokens[lo:hi], seqs[seq]) {
				t.Errorf("sequence %d is %v", seq, p.Tokens[lo:hi])
			}
			seen++
		})
	}
	if seen != 4 || !slices.Equal(got, []int32{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("packed %v", got)
	}
}
