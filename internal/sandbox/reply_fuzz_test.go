//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// FuzzReply: whatever the agent's process writes on its pipe is an answer or an
// error, and never more memory than was written.
func FuzzReply(f *testing.F) {
	frame := func(s string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
	}
	for _, s := range []string{
		`{"id":"00","value":["i","5"],"args":[]}`, `{"id":"00","value":["l",[["i","1"]]]}`,
		`{"id":"00","raised":[["ValueError",true]],"detail":"x"}`, `{"raised":[[1]]}`, `{"raised":[[]]}`, `{"value":null}`, `{`, ``,
	} {
		f.Add(frame(s), true)
		f.Add(frame(s), false)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, false)
	f.Add([]byte{0, 0, 0, 9, '{'}, false)
	f.Fuzz(func(t *testing.T, data []byte, back bool) {
		c := &child{in: bufio.NewReader(bytes.NewReader(data))}
		call := Call{Fn: "f", Args: []pyval.Value{pyval.IntOf(1)}, WantArgs: back}
		for {
			var r reply
			if c.get(&r) != nil {
				return
			}
			var a Answer
			if a.fill(r, call) != nil {
				continue
			}
			if !a.Done || back != (len(a.Args) == 1) {
				t.Errorf("%+v was read as %+v", r, a)
			}
			if a.Raised == nil {
				_ = a.Value.String()
			}
		}
	})
}
