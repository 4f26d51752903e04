package trainer

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/optim"
)

// FuzzRecipe: a recipe that is accepted is printed as one that means the same.
func FuzzRecipe(f *testing.F) {
	for _, s := range []string{
		"env: {type: react-mini}\npolicy: {kind: mlp}\nsft: {steps: 0}\n",
		"env: {type: x}\nrl: {tasks: 3, group: 4, adam: {lr: .inf}}\n", "rl: {tasks: 1e9, updates: -1}\n",
		"a: &a [*a]\n", "env: {type: x}\nenv: {type: y}\n", "? [a]\n: b\n", "---\n---\n", "\xff", "env: {type: ~}\n", "name: 0x1f\nenv: {type: 1}\n",
	} {
		f.Add([]byte(s), "rl.tasks=3")
	}
	f.Add([]byte("env: {type: x}\n"), "rl.tasks=3\nseed: 9")
	f.Add([]byte("env: {type: x}\n"), "=")
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		c := Default()
		if decode(data, &c) != nil || c.Set(set) != nil || c.Validate() != nil {
			return
		}
		text, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again := Default()
		if err := decode(text, &again); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if twice, err := again.YAML(); err != nil || !bytes.Equal(text, twice) {
			t.Errorf("%v: printed as\n%s\nand then as\n%s", err, text, twice)
		}
	})
}

// FuzzDemos: only demonstrations of the wanted type and split, with a turn and a
// reward, come out of a file.
func FuzzDemos(f *testing.F) {
	const line = `{"env_type":"e","split":"train","reward":1,"turns":[{"observation":"o","action":"a"}]}`
	for _, s := range []string{line, line + "\n\n" + line, line + "\n{", `{"env_type":"e","split":"test","turns":[{}]}`, `{"env_type":"e","split":"train","reward":null,"turns":[{}]}`, "null", "\xff", ""} {
		f.Add([]byte(s), true, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, success bool, limit int) {
		demos, err := readDemos(bytes.NewReader(data), "e", "train", success, limit)
		if (err == nil) != (len(demos) > 0) {
			t.Fatalf("%d demonstrations, %v", len(demos), err)
		}
		for _, d := range demos {
			if d.EnvType != "e" || d.Split != "train" || len(d.Turns) == 0 || d.Reward == nil || success && *d.Reward < 1 {
				t.Errorf("accepted %+v", d)
			}
		}
	})
}

// FuzzCheckpoint: an optimizer's state, and a mean of policies, is read whole
// and finite, or not.
func FuzzCheckpoint(f *testing.F) {
	a := optim.NewAdamW(3, optim.AdamConfig{}, nil)
	a.T = 7
	var good bytes.Buffer
	if err := writeOptimizer(a)(&good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:20])
	f.Add(bytes.Repeat([]byte{0xff}, good.Len()))
	f.Add(append(slices.Clone(good.Bytes()), 0))
	f.Add(append(slices.Clone(good.Bytes()[:good.Len()-4]), 0, 0, 0xc0, 0x7f)) // not a number
	var mean bytes.Buffer
	if err := (&average{mean: []float32{1, 2, 3}, n: 4}).write(&mean); err != nil {
		f.Fatal(err)
	}
	f.Add(mean.Bytes())
	f.Add(mean.Bytes()[:mean.Len()-2])
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeAverage(bytes.NewReader(data), 3); err == nil {
			var again bytes.Buffer
			if err := m.write(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
				t.Errorf("%q was read as %q, %v", data, again.Bytes(), err)
			}
		}
		a := optim.NewAdamW(3, optim.AdamConfig{}, nil)
		if err := decodeOptimizer(bytes.NewReader(data), a); err != nil {
			return
		}
		if a.T < 0 {
			t.Errorf("at step %d", a.T)
		}
		for _, x := range slices.Concat(a.M, a.V) {
			if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("accepted %v", v)
			}
		}
		var again bytes.Buffer
		if err := writeOptimizer(a)(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%q was read as %q, %v", data, again.Bytes(), err)
		}
	})
}
