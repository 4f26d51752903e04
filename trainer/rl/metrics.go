package rl

import "math"

// Meter gathers the metrics of an update token by token. Libraries define clip
// fractions differently; Low and High here count tokens whose gradient the
// clip removed, AbsClipped all tokens with |rho-1| above the wider bound.
type Meter struct {
	Tokens     float64
	Low        float64
	High       float64
	Dual       float64
	AbsClipped float64
	RatioMax   float64
	ratioSum   float64
	k1, k3     float64
	loss       float64
	kl         float64
	mismatch   float64
	mismatch3  float64
	mismatchMx float64
	w, w2      float64
	entropy    float64
}

// Policy counts one chosen token: its log-probabilities, on which side the clip
// bit, and the clip's bounds.
func (m *Meter) Policy(logpNew, logpOld float64, side Side, c Clip) {
	rho := Ratio(logpNew, logpOld)
	m.Tokens++
	m.ratioSum += rho
	m.RatioMax = max(m.RatioMax, rho)
	m.k1 += logpOld - logpNew
	m.k3 += rho - 1 - (logpNew - logpOld)
	switch side {
	case ClippedLow:
		m.Low++
	case ClippedHigh:
		m.High++
	case ClippedDual:
		m.Dual++
	case Inside:
	}
	if rho > 1+c.High || rho < 1-c.Low {
		m.AbsClipped++
	}
}

// Sampler counts the difference between sampler and trainer for one token.
func (m *Meter) Sampler(logpOld, logpSampler float64) {
	d := logpOld - logpSampler
	w := Ratio(logpOld, logpSampler)
	m.mismatch += math.Abs(d)
	m.mismatchMx = max(m.mismatchMx, math.Abs(d))
	m.mismatch3 += w - 1 - d
	m.w += w
	m.w2 += w * w
}

// Loss adds weighted loss and KL loss and a token's entropy.
func (m *Meter) Loss(loss, kl, entropy float64) {
	m.loss += loss
	m.kl += kl
	m.entropy += entropy
}

// Add merges o into m.
func (m *Meter) Add(o *Meter) {
	m.Tokens += o.Tokens
	m.Low += o.Low
	m.High += o.High
	m.Dual += o.Dual
	m.AbsClipped += o.AbsClipped
	m.RatioMax = max(m.RatioMax, o.RatioMax)
	m.ratioSum += o.ratioSum
	m.k1 += o.k1
	m.k3 += o.k3
	m.loss += o.loss
	m.kl += o.kl
	m.mismatch += o.mismatch
	m.mismatch3 += o.mismatch3
	m.mismatchMx = max(m.mismatchMx, o.mismatchMx)
	m.w += o.w
	m.w2 += o.w2
	m.entropy += o.entropy
}

// ESS is the effective share of samples under the weights exp(logpOld-logpSampler),
// (sum w)^2 / sum w^2 / N.
func (m *Meter) ESS() float64 {
	if m.w2 == 0 {
		return 0
	}
	return m.w * m.w / m.w2 / m.Tokens
}

// Stats are the means under their stable names.
func (m *Meter) Stats() Stats {
	n := max(m.Tokens, 1)
	return Stats{
		"loss_pg":                    m.loss,
		"loss_kl":                    m.kl,
		"entropy":                    m.entropy / n,
		"approx_kl_k1":               m.k1 / n,
		"approx_kl":                  m.k3 / n,
		"clip_frac_low":              m.Low / n,
		"clip_frac_high":             m.High / n,
		"clip_frac_dual":             m.Dual / n,
		"clip_frac_abs":              m.AbsClipped / n,
		"ratio_max":                  m.RatioMax,
		"ratio_mean":                 m.ratioSum / n,
		"sampler_abs_logp_diff_mean": m.mismatch / n,
		"sampler_abs_logp_diff_max":  m.mismatchMx,
		"sampler_mismatch_k3":        m.mismatch3 / n,
		"is_weight_ess":              m.ESS(),
	}
}
