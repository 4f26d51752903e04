package token

import (
	"sync"
)

// Reserved tokens. Neither is ever produced by Encode.
const (
	Pad int32 = 0 // fills nothing in this trainer, but file formats want one
	EOS int32 = 1 // end of a text
)

// The base vocabulary after the reserved tokens: the newline, the tab and the
// 95 printable ASCII characters have a token of their own; any other byte is
// two tokens, its high and its low half; then come the strings "00" to "99".
const (
	firstChar = 2
	numChars  = 97
	firstHigh = firstChar + numChars
	firstLow  = firstHigh + 16
	firstPair = firstLow + 16
	baseVocab = firstPair + 100
)

// Tokenizer maps text to tokens and back. It is safe for concurrent use.
type Tokenizer struct {
	merges [][2]int32         // merge i makes token baseVocab+i
	rank   map[[2]int32]int32 // pair -> token
	text   []string           // token -> its bytes; "" for reserved tokens and halves

	mu    sync.RWMutex
	cache map[string][]int32 // piece -> tokens
}

const maxCache = 1 << 17

func newTokenizer(merges [][2]int32) *Tokenizer {
	t := &Tokenizer{
		merges: merges,
		rank:   make(map[[2]int32]int32, len(merges)),
		text:   make([]string, baseVocab, baseVocab+len(merges)),
		cache:  make(map[string][]int32),
	}
	t.text[firstChar] = "\n"
	t.text[firstChar+1] = "\t"
	for c := 32; c < 127; c++ {
		t.text[firstChar+2+c-32] = string(rune(c))
	}
	for i := range 100 {
		t.text[firstPair+i] = string([]byte{byte('0' + i/10), byte('0' + i%10)})
	}
	for i, m := range merges {
		t.rank[m] = int32(baseVocab + i)
		t.text = append(t.text, t.text[m[0]]+t.text[m[1]])
	}
	return t
}

// Vocab is the number of tokens.
func (t *Tokenizer) Vocab() int { return len(t.text) }

// Encode returns the tokens of text.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.AppendEncode(make([]int32, 0, len(text)/2+4), text)
}

// AppendEncode appends the tokens of text to dst.
func (t *Tokenizer) AppendEncode(dst []int32, text string) []int32 {
	t.mu.RLock()
	for i := 0; i < len(text); {
		n := piece(text[i:])
		p := text[i : i+n]
		i += n
		if n == 1 {
			dst = appendByte(dst, p[0])
			continue
		}
		if n == 2 && isDigit(p[0]) {
			dst = append(dst, firstPair+int32(p[0]-'0')*10+int32(p[1]-'0'))
			continue
		}
		ids, ok := t.cache[p]
		if !ok {
			t.mu.RUnlock()
			ids = t.encodePiece(p)
			t.mu.RLock()
		}
		dst = append(dst, ids...)
	}
	t.mu.RUnlock()
	return dst
}

// encodePiece merges the bytes of p, lowest rank first, and remembers the result.
func (t *Tokenizer) encodePiece(p string) []int32 {
	ids := make([]int32, 0, len(p))
	for i := 0; i < len(p); i++ {
		ids = appendByte(ids, p[i])
	}
	for len(ids) > 1 {
		best, at := int32(-1), 0
		for i := 0; i+1 < len(ids); i++ {
			if r, ok := t.rank[[2]int32{ids[i], ids[i+1]}]; ok && (best < 0 || r < best) {
				best, at = r, i
			}
		}
		if best < 0 {
			break
		}
		pair := t.merges[best-baseVocab]
		// All places of the best pair from the left, as in training.
		out := ids[:at]
		for i := at; i < len(ids); {
			if i+1 < len(ids) && ids[i] == pair[0] && ids[i+1] == pair[1] {
				out = append(out, best)
				i += 2
				continue
			}
			out = append(out, ids[i])
			i++
		}
		ids = out
	}
	t.mu.Lock()
	if len(t.cache) < maxCache && len(p) <= 64 {
		// The key must not keep the whole text alive.
		t.cache[string([]byte(p))] = ids
	}
	t.mu.Unlock()
	return ids
}

// Decode returns the text of ids. Reserved tokens give nothing; half of a byte
// without its other half, and an id outside the vocabulary, give the Unicode
// replacement character: only a policy that samples them writes those.
func (t *Tokenizer) Decode(ids []int32) string {
	return string(t.AppendDecode(nil, ids))
}

// AppendDecode appends the text of ids to dst.
func (t *Tokenizer) AppendDecode(dst []byte, ids []int32) []byte {
	const broken = "\uFFFD"
	for i := 0; i < len(ids); i++ {
		id := ids[i]
		switch {
		case id < 0 || int(id) >= len(t.text):
			dst = append(dst, broken...)
		case id >= firstHigh && id < firstLow:
			if i+1 < len(ids) && ids[i+1] >= firstLow && ids[i+1] < firstPair {
				dst = append(dst, byte(id-firstHigh)<<4|byte(ids[i+1]-firstLow))
				i++
			} else {
				dst = append(dst, broken...)
			}
		case id >= firstLow && id < firstPair:
			dst = append(dst, broken...)
		default:
			dst = append(dst, t.text[id]...)
		}
	}
	return dst
}

func appendByte(dst []int32, b byte) []int32 {
	switch {
	case b >= 32 && b < 127:
		return append(dst, firstChar+2+int32(b)-32)
	case b == '\n':
		return append(dst, firstChar)
	case b == '\t':
		return append(dst, firstChar+1)
	}
	return append(dst, firstHigh+int32(b>>4), firstLow+int32(b&15))
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// isOther holds for punctuation and the other bytes that are in no class of
// their own; '>' is not one of them because its runs mean indentation.
func isOther(b byte) bool { return !isDigit(b) && !isLetter(b) && !isSpace(b) && b != '>' }

// piece is the length of the first piece of s, which is not empty. Tokens never
// cross the border of a piece. Pieces are: up to two digits; a run of letters
// or of punctuation with at most one blank before it; a run of '>'; one white
// space character.
func piece(s string) int {
	b := s[0]
	switch {
	case isDigit(b):
		if len(s) > 1 && isDigit(s[1]) {
			return 2
		}
		return 1
	case b == '>':
		return 1 + run(s[1:], func(b byte) bool { return b == '>' })
	case isLetter(b):
		return 1 + run(s[1:], isLetter)
	case isOther(b):
		return 1 + run(s[1:], isOther)
	case b == ' ' && len(s) > 1 && isLetter(s[1]):
		return 2 + run(s[2:], isLetter)
	case b == ' ' && len(s) > 1 && isOther(s[1]):
		return 2 + run(s[2:], isOther)
	}
	return 1
}

func run(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}
