package nn

// headStat is what the softmax over the vocabulary leaves for its gradient.
type headStat[F Float] struct{ max, lse, entropy F }

// logSoftmaxPick returns the log-probability of target and the entropy under
// softmax(logits*invT). tmp has the length of logits.
func logSoftmaxPick[F Float](logits []F, target int, invT F, tmp []F) (logp F, st headStat[F]) {
	m, sum := expShifted(tmp, logits, invT)
	lse := log(sum)
	var u F
	for i, v := range logits {
		u += tmp[i] * (v - m)
	}
	return (logits[target]-m)*invT - lse, headStat[F]{m, lse, lse - u*invT/sum}
}

// logSoftmaxPickBackward replaces logits by the gradient of
// dlogp*logp + dent*entropy: with p the softmax, the derivative is
// (dlogp ([j=target] - p) - dent p (log p + entropy)) invT.
func logSoftmaxPickBackward[F Float](logits []F, target int, invT, dlogp, dent F, st headStat[F]) {
	for i, v := range logits {
		lp := (v-st.max)*invT - st.lse
		p := exp(lp)
		logits[i] = -p * (dlogp + dent*(lp+st.entropy)) * invT
	}
	logits[target] += dlogp * invT
}
