package nn

import (
	"math"
	"math/rand/v2"
)

// initialise fills params of layout l. Without cfg.Mimetic it is the usual
// scaled normal initialisation. With it attention starts out looking for equal
// tokens and passing them on: keys and queries share one orthogonal matrix, the
// output undoes the values, embeddings have unit scale, and with cfg.Smear half
// of the heads are keyed on the token before (head 0) or on the two tokens
// before (the others), which is induction. A transformer of this size does not
// find copying by itself in any budget we have.
func initialise[F Float](params []F, c Config, l layout, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x6d6f64656c))
	normal := func(s span, std float64) {
		p := in(params, s)
		for i := range p {
			p[i] = F(rng.NormFloat64() * std)
		}
	}
	ones := func(s span) {
		p := in(params, s)
		for i := range p {
			p[i] = 1
		}
	}
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	residual := 1 / math.Sqrt(2*float64(c.Layers))
	if c.Mimetic {
		normal(l.emb, 0.1)
	} else {
		normal(l.emb, 0.02)
	}
	for _, y := range l.layer {
		ones(y.g1)
		ones(y.g2)
		down := residual
		if c.Mimetic {
			mimeticAttention(in(params, y.wqkv), in(params, y.wo), D, H, G, E, rng)
			down *= 0.5
		} else {
			normal(y.wqkv, 1/math.Sqrt(float64(D)))
			normal(y.wo, residual/math.Sqrt(float64(D)))
		}
		if c.Smear {
			initTaps(in(params, y.qt), in(params, y.kt), H, G, E, c.Mimetic)
		}
		normal(y.w1, 1/math.Sqrt(float64(D)))
		normal(y.w2, down/math.Sqrt(float64(c.FF)))
	}
	ones(l.gf)
	normal(l.pos, 0.02)
}

// mimeticAttention sets the queries and the keys of wqkv to 1.8 times one
// random orthogonal matrix, its values to another, and wo to 0.7 times the
// transposed values. A key head that serves several query heads takes the
// matrix of the first of them.
func mimeticAttention[F Float](wqkv, wo []F, D, H, G, E int, rng *rand.Rand) {
	qk, v := orthogonal(D, rng), orthogonal(D, rng)
	W := (H + 2*G) * E
	for i := range D {
		row := wqkv[i*W : (i+1)*W]
		for j := range H * E {
			row[j] = F(1.8 * qk[i*D+j])
		}
		for g := range G {
			for e := range E {
				from := g*(H/G)*E + e
				row[(H+g)*E+e] = F(1.8 * qk[i*D+from])
				row[(H+G+g)*E+e] = F(v[i*D+from])
			}
		}
	}
	for h := range H {
		first := h / (H / G) * (H / G)
		for e := range E {
			for i := range D {
				wo[(h*E+e)*D+i] = F(0.7 * v[i*D+first*E+e])
			}
		}
	}
}

// initTaps sets the mixing over positions: the identity, or with mimetic the
// heads of the lower half to matching previous tokens.
func initTaps[F Float](qt, kt []F, H, G, E int, mimetic bool) {
	for i := range H * E {
		qt[i] = 1
	}
	for i := range G * E {
		kt[i] = 1
	}
	if !mimetic {
		return
	}
	K := G * E
	for g := range G - G/2 {
		for e := range E {
			i := g*E + e
			kt[i] = 0.05
			switch {
			case g == 0 || e < E/2:
				kt[K+i] = 0.95
			default:
				kt[2*K+i] = 0.95
				for h := g * (H / G); h < (g+1)*(H/G); h++ {
					qt[h*E+e] = 0.05
					qt[H*E+h*E+e] = 0.95
				}
			}
		}
	}
}

// orthogonal is a random orthogonal (n,n) matrix: Gram and Schmidt's method,
// done twice for accuracy, on normal rows.
func orthogonal(n int, rng *rand.Rand) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		row := a[i*n : (i+1)*n]
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for range 2 {
			for k := range i {
				prev := a[k*n : (k+1)*n]
				axpy(row, -dot(row, prev), prev)
			}
			scale(row, 1/math.Sqrt(dot(row, row)), row)
		}
	}
	return a
}
