package grammar

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// Name is the environment type's name.
const Name = "codefix-grammar"

const version = "1.1.0"

// New makes the environment type "codefix-grammar": o's Runner, Key and
// rewards, with this package's tasks in the compact style.
func New(o codefix.Options) (*codefix.Type, error) {
	o.Compact, o.Demo = true, demonstrate
	o.Identity = codefix.Identity{Name: Name, Version: version, Summary: "Repair one line of a short list function; for small policies."}
	o.Source = newSource(o.Key)
	return codefix.New(o)
}

var sizes = map[string]int{envs.SplitTrain: 200_000, envs.SplitValidation: 2_000, envs.SplitTest: 4_000}

// splitCodes are part of an id before it is enciphered.
var splitCodes = []string{envs.SplitTrain, envs.SplitValidation, envs.SplitTest}

// source makes tasks on demand.
type source struct {
	secret uint64 // of hidden inputs
	ids    cipher.Block
}

func newSource(key []byte) *source {
	h := sha256.Sum256(append([]byte("hidden inputs of codefix-grammar "), key...))
	id := sha256.Sum256([]byte("task ids of codefix-grammar"))
	b, err := aes.NewCipher(id[:16])
	if err != nil {
		panic("grammar: " + err.Error()) // the key has a fixed, valid length
	}
	return &source{secret: binary.BigEndian.Uint64(h[:]), ids: b}
}

// Len is the number of tasks of a split.
func (s *source) Len(split string) int { return sizes[split] }

// At is task i of a split.
func (s *source) At(split string, i int) (*codefix.Task, error) {
	if i < 0 || i >= sizes[split] {
		return nil, fmt.Errorf("%w: %s has no task %d", envs.ErrNoTask, split, i)
	}
	ch := choose(split, i)
	return ch.task(s.id(split, i), split, s.secret, uint64(i)), nil
}

// id enciphers a split and an index: it names a task and says nothing of it.
func (s *source) id(split string, i int) string {
	var b [aes.BlockSize]byte
	for c, name := range splitCodes {
		if name == split {
			b[0] = byte(c)
		}
	}
	binary.BigEndian.PutUint64(b[8:], uint64(i))
	s.ids.Encrypt(b[:], b[:])
	return hex.EncodeToString(b[:])
}

// Find is the task of an id.
func (s *source) Find(id string) (*codefix.Task, error) {
	var b [aes.BlockSize]byte
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != len(b) {
		return nil, fmt.Errorf("%w: %q", envs.ErrNoTask, id)
	}
	s.ids.Decrypt(b[:], raw)
	i := binary.BigEndian.Uint64(b[8:])
	if int(b[0]) >= len(splitCodes) || [7]byte(b[1:8]) != [7]byte{} || i >= uint64(sizes[splitCodes[b[0]]]) || hex.EncodeToString(raw) != id {
		return nil, fmt.Errorf("%w: %q", envs.ErrNoTask, id)
	}
	return s.At(splitCodes[b[0]], int(i))
}

// Digest identifies the grammar. Hidden inputs are drawn by every server anew
// and are no part of it.
func (s *source) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "codefix-grammar %s %d %d %d %d", version, len(allSpecs), len(schemes), sizes[envs.SplitTrain], sizes[envs.SplitTest])
	for i := range 50 {
		ch := choose(envs.SplitTest, i)
		h.Write([]byte(ch.say + ch.gold.text() + ch.bug.prog.text()))
	}
	return hex.EncodeToString(h.Sum(nil))
}
