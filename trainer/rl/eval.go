package rl

import (
	"math"
	"math/rand/v2"
	"slices"
)

// PassAtK is the chance that at least one of k draws without replacement from n
// samples with c successes succeeds: 1 - C(n-c,k)/C(n,k).
func PassAtK(n, c, k int) float64 {
	if n-c < k {
		return 1
	}
	p := 1.0
	for i := n - c + 1; i <= n; i++ {
		p *= 1 - float64(k)/float64(i)
	}
	return 1 - p
}

// PassHatK is the chance that all k draws succeed: C(c,k)/C(n,k).
func PassHatK(n, c, k int) float64 {
	if c < k {
		return 0
	}
	p := 1.0
	for i := range k {
		p *= float64(c-i) / float64(n-i)
	}
	return p
}

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// Wilson is the 95 % interval of Wilson (1927) for s successes in n trials.
func Wilson(s, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	p, nn, z2 := float64(s)/float64(n), float64(n), z95*z95
	mid := (p + z2/(2*nn)) / (1 + z2/nn)
	half := z95 / (1 + z2/nn) * math.Sqrt(p*(1-p)/nn+z2/(4*nn*nn))
	return max(0, mid-half), min(1, mid+half)
}

// NaiveSE is the standard error of the mean if all samples were independent.
func NaiveSE(rewards [][]float64) float64 {
	var all []float64
	for _, r := range rewards {
		all = append(all, r...)
	}
	_, std := MeanStd(all, 1)
	return std / math.Sqrt(float64(len(all)))
}

// ClusteredSE is the standard error of the mean over tasks when each task was
// sampled several times: samples of one task are not independent. It is the
// deviation of the task means over the root of their number.
func ClusteredSE(rewards [][]float64) float64 {
	means := make([]float64, len(rewards))
	for i, r := range rewards {
		means[i], _ = MeanStd(r, 0)
	}
	_, std := MeanStd(means, 1)
	return std / math.Sqrt(float64(len(means)))
}

// PairedBootstrap compares two policies on the same tasks: the mean of b-a, its
// 95 % percentile interval over draws resamples of tasks, and the share of
// resamples in which b is not better.
func PairedBootstrap(a, b []float64, draws int, rng *rand.Rand) (diff, lo, hi, pNotBetter float64) {
	mustLen(len(a) == len(b))
	n := len(a)
	d := make([]float64, n)
	for i := range d {
		d[i] = b[i] - a[i]
		diff += d[i] / float64(n)
	}
	means := make([]float64, draws)
	for k := range means {
		s := 0.0
		for range n {
			s += d[rng.IntN(n)]
		}
		means[k] = s / float64(n)
		if means[k] <= 0 {
			pNotBetter += 1 / float64(draws)
		}
	}
	slices.Sort(means)
	return diff, means[int(0.025*float64(draws))], means[min(draws-1, int(0.975*float64(draws)))], pNotBetter
}

// AlarmConstant reports whether every measured reward of a batch of several
// groups is the same number: a grader that always says the same is broken more
// often than a policy is perfectly even.
func AlarmConstant(groups [][]float64, valid [][]bool) bool {
	var all []float64
	for g, r := range groups {
		all = append(all, pick(r, counted(r, valid[g]))...)
	}
	return len(all) > 1 && !Spread(all, nil)
}
