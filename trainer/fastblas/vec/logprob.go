package vec

import "math"

// Row is what LogProb keeps of one distribution for the backward pass.
type Row struct {
	LogP    float32 // log-probability of the target
	Entropy float32 // in nats
	LogZ    float32 // of scale*z, before the softmax
}

// LogProb returns the log-probability of target under the softmax of scale*z,
// scale being one over the temperature, and the entropy of that distribution.
// The probabilities are never stored. A logit of -Inf has no probability.
func LogProb(z []float32, scale float32, target int) Row {
	top := scale * Max(z)
	var sum, weighted float64
	if fast {
		s, w := expWeightKernel(first(z), scale, top, len(z))
		sum, weighted = float64(s), float64(w)
	} else {
		for _, v := range z {
			d := float64(scale)*float64(v) - float64(top)
			if e := math.Exp(d); e != 0 {
				sum += e
				weighted += e * d
			}
		}
	}
	l := math.Log(sum)
	return Row{
		LogP:    float32(float64(scale)*float64(z[target]) - float64(top) - l),
		Entropy: float32(l - weighted/sum),
		LogZ:    float32(float64(top) + l),
	}
}

// LogProbBackward sets dz to the gradient by the logits z, given the gradients
// by the log-probability of target and by the entropy. r is what LogProb
// returned. dz may be z.
func LogProbBackward(dz, z []float32, scale float32, target int, r Row, dLogP, dEntropy float32) {
	same(len(dz), len(z))
	// d logp/dz = scale*(1{target} - p); d H/dz = -scale*p*(log p + H).
	a := dLogP + float32(dEntropy*r.Entropy)
	if fast {
		logProbBackKernel(first(dz), first(z), scale, r.LogZ, a, dEntropy, len(z))
	} else {
		for i, v := range z {
			l := float64(scale)*float64(v) - float64(r.LogZ)
			p := math.Exp(l)
			dz[i] = float32(-float64(scale) * p * (float64(a) + float64(dEntropy)*max(l, -200)))
		}
	}
	dz[target] += float32(scale * dLogP)
}
