package policy_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// mlpHeader is a file that promises a shape and holds no parameter.
func mlpHeader(config string) []byte {
	h := `{"__metadata__":{"proctor.mlp":"` + config + `"}}`
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...)
}

// Memory is taken as the data comes in, not as a header promises it.
func TestMLPHeaderThatPromisesTooMuch(t *testing.T) {
	for _, config := range []string{
		`{\"Buckets\":16777216,\"Hidden\":4096}`, `{\"buckets\":16777216,\"hidden\":4096}`,
		`{\"Buckets\":9223372036854775807,\"Hidden\":3}`, `{\"Buckets\":4611686018427387904,\"Hidden\":4}`,
	} {
		if _, err := policy.LoadMLP(bytes.NewReader(mlpHeader(config))); err == nil {
			t.Errorf("%s: loaded", config)
		}
	}
}

// FuzzLoadMLP feeds headers that lie. Whatever loads must survive being saved
// and loaded again.
func FuzzLoadMLP(f *testing.F) {
	var buf bytes.Buffer
	if err := policy.NewMLP(policy.MLPConfig{Buckets: 4, Hidden: 2}, 1).Save(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add(buf.Bytes()[:buf.Len()-1])
	f.Add(mlpHeader(`{}`))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := policy.LoadMLP(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := p.Save(&again); err != nil {
			t.Fatal(err)
		}
		if q, err := policy.LoadMLP(bytes.NewReader(again.Bytes())); err != nil || !slices.Equal(q.Params(), p.Params()) {
			t.Errorf("loaded, saved and loaded again: %v", err)
		}
	})
}
