package token

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const fileFormat = "proctor-bpe-1"

type file struct {
	Format string     `json:"format"`
	Vocab  int        `json:"vocab"`
	Merges [][2]int32 `json:"merges"`
	Hash   string     `json:"hash"`
}

// Hash identifies the mapping: two tokenizers with equal hashes encode alike.
func (t *Tokenizer) Hash() string {
	h := sha256.New()
	fmt.Fprintln(h, fileFormat, baseVocab)
	for _, m := range t.merges {
		fmt.Fprintln(h, m[0], m[1])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Save writes t as JSON.
func (t *Tokenizer) Save(w io.Writer) error {
	b, err := json.Marshal(file{fileFormat, t.Vocab(), t.merges, t.Hash()})
	if err != nil {
		return fmt.Errorf("save tokenizer: %w", err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("save tokenizer: %w", err)
	}
	return nil
}

// Load reads what Save wrote. A file whose hash does not fit its merges, or
// whose merges use tokens that are not there yet, is refused.
func Load(r io.Reader) (*Tokenizer, error) {
	var f file
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	if f.Format != fileFormat {
		return nil, fmt.Errorf("load tokenizer: unknown format %q", f.Format)
	}
	for i, m := range f.Merges {
		for _, id := range m {
			if id < firstChar || int(id) >= baseVocab+i || half(id) {
				return nil, fmt.Errorf("load tokenizer: merge %d uses token %d", i, id)
			}
		}
	}
	t := newTokenizer(f.Merges)
	if t.Hash() != f.Hash {
		return nil, errors.New("load tokenizer: hash does not match")
	}
	return t, nil
}
