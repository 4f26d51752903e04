package pyval

import (
	"math/big"
	"strings"
	"testing"
)

// Writing out millions of digits takes seconds; a program can return such an
// int in an instant.
func TestHugeIntsAreNotWrittenOut(t *testing.T) {
	v := ListOf(BigOf(new(big.Int).Lsh(big.NewInt(1), 8_000_000)), BigOf(new(big.Int).Lsh(big.NewInt(-1), 100)))
	if s := v.String(); s != "[<int of 8000001 bits>, -1267650600228229401496703205376]" {
		t.Errorf("%.200s", s)
	}
	if s := BigOf(new(big.Int).Exp(big.NewInt(10), big.NewInt(4000), nil)).String(); s != "1"+strings.Repeat("0", 4000) {
		t.Errorf("%d characters", len(s))
	}
}
