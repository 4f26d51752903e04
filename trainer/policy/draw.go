package policy

import (
	"math"
	"slices"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
)

// drawer draws tokens from rows of logits. It is scratch memory: one per
// goroutine.
type drawer struct {
	e     []float32
	order []int32
}

// draw picks a token with the uniform number u and returns it with its
// log-probability under the distribution it was drawn from; a greedy choice
// reports the log-probability at temperature 1.
func (d *drawer) draw(logits []float32, cfg SampleConfig, u float64) (int32, float32) {
	if cap(d.e) < len(logits) {
		d.e = make([]float32, len(logits))
	}
	e := d.e[:len(logits)]
	invT := float32(1)
	if cfg.Temperature != 0 {
		invT = 1 / cfg.Temperature
	}
	if cfg.Temperature == 0 {
		tok := int32(slices.Index(logits, vec.Max(logits)))
		return tok, vec.LogProb(logits, 1, int(tok)).LogP
	}
	vec.Softmax(e, logits, invT)
	if cfg.TopK > 0 && cfg.TopK < len(e) || cfg.TopP > 0 && cfg.TopP < 1 {
		return d.drawKept(e, cfg, u)
	}
	tok := pick(e, u)
	// The very function that the trainer's log-probabilities come from.
	return tok, vec.LogProb(logits, invT, int(tok)).LogP
}

// pickBlock is the number of weights that pick adds up at a time.
const pickBlock = 32

// pick is the inverse of the cumulative distribution of the weights e at u. It
// finds the block first and then the weight in it.
func pick(e []float32, u float64) int32 {
	var total float64
	for b := 0; b < len(e); b += pickBlock {
		total += blockSum(e[b:min(b+pickBlock, len(e))])
	}
	goal, lo := u*total, 0
	var acc float64
	for lo+pickBlock < len(e) {
		s := blockSum(e[lo : lo+pickBlock])
		if acc+s > goal {
			break
		}
		acc += s
		lo += pickBlock
	}
	last := int32(-1)
	for i, v := range e[lo:] {
		if v == 0 {
			continue
		}
		acc += float64(v)
		last = int32(lo + i)
		if acc > goal {
			break
		}
	}
	// Rounding can leave nothing but zeros after the goal.
	for last < 0 && lo > 0 {
		lo--
		if e[lo] > 0 {
			last = int32(lo)
		}
	}
	return max(last, 0)
}

// blockSum adds up a block in four chains.
func blockSum(e []float32) float64 {
	var a, b, c, d float64
	for ; len(e) >= 4; e = e[4:] {
		a += float64(e[0])
		b += float64(e[1])
		c += float64(e[2])
		d += float64(e[3])
	}
	for _, v := range e {
		a += float64(v)
	}
	return a + b + (c + d)
}

// drawKept draws from the TopK most likely tokens, of those the smallest set
// that has TopP of all probability; ties go to the lower token.
func (d *drawer) drawKept(e []float32, cfg SampleConfig, u float64) (int32, float32) {
	d.order = d.order[:0]
	var total float64
	for i, v := range e {
		d.order = append(d.order, int32(i))
		total += float64(v)
	}
	slices.SortFunc(d.order, func(a, b int32) int {
		switch {
		case e[a] > e[b]:
			return -1
		case e[a] < e[b]:
			return 1
		}
		return int(a - b)
	})
	kept := d.order
	if cfg.TopK > 0 && cfg.TopK < len(kept) {
		kept = kept[:cfg.TopK]
	}
	if cfg.TopP > 0 && cfg.TopP < 1 {
		var acc float64
		for i, t := range kept {
			acc += float64(e[t])
			if acc >= float64(cfg.TopP)*total {
				kept = kept[:i+1]
				break
			}
		}
	}
	var sum float64
	for _, t := range kept {
		sum += float64(e[t])
	}
	goal, tok := u*sum, kept[0]
	var acc float64
	for _, t := range kept {
		if e[t] == 0 {
			continue
		}
		acc += float64(e[t])
		tok = t
		if acc > goal {
			break
		}
	}
	return tok, float32(math.Log(float64(e[tok]) / sum))
}
