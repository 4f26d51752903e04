package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// headStat is what the softmax over the vocabulary leaves for its gradient.
type headStat[F Float] struct{ logp, entropy, logz F }

// logSoftmaxPick returns the log-probability of target, the entropy and the
// logarithm of the sum of exponentials of logits*invT.
func logSoftmaxPick[F Float](logits []F, target int, invT F) headStat[F] {
	if is32[F]() {
		r := vec.LogProb(as32(logits), float32(invT), target)
		return headStat[F]{F(r.LogP), F(r.Entropy), F(r.LogZ)}
	}
	m := logits[0]
	for _, v := range logits[1:] {
		m = max(m, v)
	}
	var sum, weighted F
	for _, v := range logits {
		d := (v - m) * invT
		e := exp(d)
		sum += e
		weighted += e * d
	}
	l := log(sum)
	return headStat[F]{(logits[target]-m)*invT - l, l - weighted/sum, m*invT + l}
}

// logSoftmaxPickBackward replaces logits by the gradient of
// dlogp*logp + dent*entropy: with p the softmax, the derivative is
// (dlogp ([j=target] - p) - dent p (log p + entropy)) invT.
func logSoftmaxPickBackward[F Float](logits []F, target int, invT, dlogp, dent F, st headStat[F]) {
	if is32[F]() {
		r := vec.Row{LogP: float32(st.logp), Entropy: float32(st.entropy), LogZ: float32(st.logz)}
		vec.LogProbBackward(as32(logits), as32(logits), float32(invT), target, r, float32(dlogp), float32(dent))
		return
	}
	for i, v := range logits {
		lp := v*invT - st.logz
		logits[i] = -exp(lp) * (dlogp + dent*(lp+st.entropy)) * invT
	}
	logits[target] += dlogp * invT
}
