package react

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// taskIDs turns a split and an index into an id and back without a table. The
// id is one encrypted block: it neither shows the two nor can be guessed by
// counting, and a made-up id fails the check of the block's empty half.
type taskIDs struct{ block cipher.Block }

func newTaskIDs(secret string) (taskIDs, error) {
	key := sha256.Sum256([]byte("task ids\x00" + secret))
	b, err := aes.NewCipher(key[:16])
	if err != nil {
		return taskIDs{}, fmt.Errorf("make task ids: %w", err)
	}
	return taskIDs{b}, nil
}

func (t taskIDs) encode(split byte, index int) string {
	var in, out [aes.BlockSize]byte
	in[8] = split
	binary.BigEndian.PutUint32(in[12:], uint32(index))
	t.block.Encrypt(out[:], in[:])
	return hex.EncodeToString(out[:])
}

func (t taskIDs) decode(id string) (split byte, index int, ok bool) {
	var out [aes.BlockSize]byte
	in, err := hex.DecodeString(id)
	if err != nil || len(in) != aes.BlockSize || hex.EncodeToString(in) != id {
		return 0, 0, false
	}
	t.block.Decrypt(out[:], in)
	if binary.BigEndian.Uint64(out[:8]) != 0 || out[9]|out[10]|out[11] != 0 {
		return 0, 0, false
	}
	return out[8], int(binary.BigEndian.Uint32(out[12:])), true
}
