package rl

import "math"

// The advantage functions below work on the returns of one group. An entry
// counts only where valid is true and the return is finite: an episode that
// our side could not grade has no return, so it moves neither the baseline nor
// the loss, and its advantage is 0. A group whose counted returns are all
// equal, or that has fewer than two of them, has advantage 0 throughout.

// counted are the indices that take part.
func counted(r []float64, valid []bool) []int {
	mustLen(valid == nil || len(valid) == len(r))
	at := make([]int, 0, len(r))
	for i, x := range r {
		if (valid == nil || valid[i]) && !math.IsNaN(x) && !math.IsInf(x, 0) {
			at = append(at, i)
		}
	}
	return at
}

// Spread reports whether the counted returns of a group differ by more than
// rounding: 0.1+0.2 and 0.3 are equal here.
func Spread(r []float64, valid []bool) bool {
	at := counted(r, valid)
	if len(at) < 2 {
		return false
	}
	lo, hi := r[at[0]], r[at[0]]
	for _, i := range at {
		lo, hi = min(lo, r[i]), max(hi, r[i])
	}
	return hi-lo > 1e-7*max(1, math.Abs(lo), math.Abs(hi))
}

// MeanStd is the mean and the standard deviation with n-ddof in the
// denominator; the deviation is 0 where that is not positive.
func MeanStd(x []float64, ddof int) (mean, std float64) {
	if len(x) == 0 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	if len(x)-ddof <= 0 {
		return mean, 0
	}
	ss := 0.0
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(ss / float64(len(x)-ddof))
}

func pick(r []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for k, i := range at {
		out[k] = r[i]
	}
	return out
}

// Center writes R - mean(R): the advantage of Dr. GRPO (Liu et al. 2025).
func Center(dst, r []float64, valid []bool) {
	mustLen(len(dst) == len(r))
	clear(dst)
	if !Spread(r, valid) {
		return
	}
	at := counted(r, valid)
	mean, _ := MeanStd(pick(r, at), 0)
	for _, i := range at {
		dst[i] = r[i] - mean
	}
}

// LeaveOneOut writes R minus the mean of the other members (RLOO, Ahmadian et
// al. 2024), which is K/(K-1) times Center.
func LeaveOneOut(dst, r []float64, valid []bool) {
	Center(dst, r, valid)
	k := float64(len(counted(r, valid)))
	if k < 2 {
		return
	}
	for i := range dst {
		dst[i] *= k / (k - 1)
	}
}

// Standardize writes (R-mean)/(std+eps): the advantage of GRPO (Shao et al.
// 2024). Libraries differ in ddof (1 or 0) and eps, which changes step sizes.
func Standardize(dst, r []float64, valid []bool, ddof int, eps float64) {
	Center(dst, r, valid)
	if !Spread(r, valid) {
		return
	}
	_, std := MeanStd(pick(r, counted(r, valid)), ddof)
	for i := range dst {
		dst[i] /= std + eps
	}
}

// LeaveOneOutStd divides R minus the mean of the others by the deviation of the
// others. Where that deviation is below floor, which happens whenever the
// others agree, it falls back to the unscaled difference: dividing by it would
// make advantages of a million out of one lucky member.
func LeaveOneOutStd(dst, r []float64, valid []bool, floor float64) {
	mustLen(len(dst) == len(r))
	clear(dst)
	if !Spread(r, valid) {
		return
	}
	at := counted(r, valid)
	others := make([]float64, 0, len(at))
	for _, i := range at {
		others = others[:0]
		for _, j := range at {
			if j != i {
				others = append(others, r[j])
			}
		}
		mean, std := MeanStd(others, 1)
		dst[i] = r[i] - mean
		if std >= floor {
			dst[i] /= std
		}
	}
}

// MaxRL writes (R-mean)/mean, and 0 where the mean is not positive.
func MaxRL(dst, r []float64, valid []bool) {
	Center(dst, r, valid)
	mean, _ := MeanStd(pick(r, counted(r, valid)), 0)
	for i := range dst {
		if mean <= 0 {
			dst[i] = 0
		} else {
			dst[i] /= mean
		}
	}
}

// BestOfGroup gives the best member its lead over the second and everybody
// else 0: the gradient of the expected best of K.
func BestOfGroup(dst, r []float64, valid []bool) {
	mustLen(len(dst) == len(r))
	clear(dst)
	best, second := -1, math.Inf(-1)
	for _, i := range counted(r, valid) {
		switch {
		case best < 0:
			best = i
		case r[i] > r[best]:
			second, best = r[best], i
		case r[i] > second:
			second = r[i]
		}
	}
	if best >= 0 && !math.IsInf(second, -1) {
		dst[best] = r[best] - second
	}
}

// BatchStd is the deviation (n-1) of all counted returns of a batch, for
// dividing group-centred advantages by one number.
func BatchStd(groups [][]float64, valid [][]bool) float64 {
	var all []float64
	for g, r := range groups {
		var v []bool
		if valid != nil {
			v = valid[g]
		}
		all = append(all, pick(r, counted(r, v))...)
	}
	_, std := MeanStd(all, 1)
	return std
}

// Between is, for each group, the mean of its counted returns minus the mean of
// all that the batch counts; 0 for a group that counts none.
//
// A group that fails as one has no advantage of its own: compared with itself
// alone, a policy that became sure of a mistake never hears of it again. Added
// with weight s, Between moves the baseline of a group from its own mean to
// (1-s) times that plus s times the batch's, a shrinkage estimate of what the
// task is worth.
func Between(groups [][]float64, valid [][]bool) []float64 {
	out, all, n := make([]float64, len(groups)), 0.0, 0
	counts := make([]int, len(groups))
	for g, r := range groups {
		var v []bool
		if valid != nil {
			v = valid[g]
		}
		at := counted(r, v)
		counts[g] = len(at)
		for _, x := range pick(r, at) {
			out[g] += x
		}
		all, n = all+out[g], n+len(at)
	}
	for g := range out {
		if counts[g] > 0 {
			out[g] = out[g]/float64(counts[g]) - all/float64(n)
		}
	}
	return out
}

// TruncatedPolicy says what becomes of an episode that a limit ended.
type TruncatedPolicy string

// The choices for truncated episodes.
const (
	// TruncatedGrade grades it like any other; anything the policy can cause
	// itself must stay graded, or stalling pays.
	TruncatedGrade TruncatedPolicy = "grade"
	// TruncatedMask keeps it in the baseline and out of the loss.
	TruncatedMask TruncatedPolicy = "mask"
	// TruncatedDrop keeps it out of both.
	TruncatedDrop TruncatedPolicy = "drop"
)

// CenterTruncated is Center under a policy for truncated members.
func CenterTruncated(dst, r []float64, valid, truncated []bool, p TruncatedPolicy) {
	mustLen(len(truncated) == len(r))
	v := make([]bool, len(r))
	for i := range v {
		v[i] = (valid == nil || valid[i]) && !(p == TruncatedDrop && truncated[i])
	}
	Center(dst, r, v)
	for i := range dst {
		if p == TruncatedMask && truncated[i] {
			dst[i] = 0
		}
	}
}

// Informative reports whether a group of pass/fail results is worth an update:
// some members passed and some did not (DAPO's dynamic sampling).
func Informative(passed, total int) bool { return passed > 0 && passed < total }

// ZeroStdProbability is the chance that K members with success rate p agree.
func ZeroStdProbability(p float64, k int) float64 {
	return math.Pow(p, float64(k)) + math.Pow(1-p, float64(k))
}

// OverlongPenalty is DAPO's soft length penalty: 0 up to limit-buffer tokens,
// falling linearly to -1 at limit and -1 above.
func OverlongPenalty(length, limit, buffer int) float64 {
	start := limit - buffer
	switch {
	case length <= start:
		return 0
	case length > limit:
		return -1
	}
	return float64(start-length) / float64(buffer)
}
