package nn

import (
	"math"

	"github.com/proctor-rl/proctor/trainer/fastblas"
)

// Cache holds the keys and values of one sequence so that it can be continued
// token by token.
type Cache[F Float] struct {
	len, cap int
	width    int // of a head
	layers   []cacheLayer[F]
}

type cacheLayer[F Float] struct {
	kp           []F // (G, cap, E): keys, mixed and rotated, in panels
	v            []F // (G, cap, E)
	pastQ, pastK []F // (1,HE), (2,GE): rows before mixing, newest first
}

// NewCache returns an empty cache with room for the model's context.
func (m *Model[F]) NewCache() *Cache[F] {
	c := m.cfg
	E := c.HeadDim()
	capacity := roundUp(c.Context)
	k := &Cache[F]{cap: capacity, width: E, layers: make([]cacheLayer[F], c.Layers)}
	for l := range k.layers {
		k.layers[l] = cacheLayer[F]{
			kp:    make([]F, c.KVHeads*capacity*E),
			v:     make([]F, c.KVHeads*capacity*E),
			pastQ: make([]F, c.Heads*E),
			pastK: make([]F, 2*c.KVHeads*E),
		}
	}
	return k
}

// Len is the number of tokens in k.
func (k *Cache[F]) Len() int { return k.len }

// Reset empties k.
func (k *Cache[F]) Reset() {
	k.len = 0
	for l := range k.layers {
		clear(k.layers[l].pastQ)
		clear(k.layers[l].pastK)
	}
}

// CopyFrom makes k equal to from, a cache of the same model.
func (k *Cache[F]) CopyFrom(from *Cache[F]) {
	k.len = from.len
	for l := range k.layers {
		a, b := &k.layers[l], &from.layers[l]
		copy(a.pastQ, b.pastQ)
		copy(a.pastK, b.pastK)
		for at := 0; at < len(a.v); at += k.cap * k.width {
			copy(a.v[at:], b.v[at:at+from.len*k.width])
			copy(a.kp[at:], b.kp[at:at+roundUp(from.len)*k.width])
		}
	}
}

// remember keeps the last rows of qkv (T rows of stride W) for later mixing.
func (y *cacheLayer[F]) remember(qkv []F, T, W int) {
	hw, kw := len(y.pastQ), len(y.pastK)/2
	last := qkv[(T-1)*W:]
	copy(y.pastQ, last[:hw])
	if T == 1 {
		copy(y.pastK[kw:], y.pastK[:kw])
	} else {
		copy(y.pastK[kw:], qkv[(T-2)*W+hw:(T-2)*W+hw+kw])
	}
	copy(y.pastK[:kw], last[hw:hw+kw])
}

// Segment is a run of new tokens of one sequence within a packed batch.
type Segment[F Float] struct {
	Cache  *Cache[F]
	Lo, Hi int // rows of the batch
}

// DecodeSpace is the scratch memory of Decode. It grows to the largest batch
// it has seen. It belongs to one goroutine at a time.
type DecodeSpace[F Float] struct {
	x, h, qkv, qk, o, up, act []F
	rstd, prob, logits        []F
	blas                      *fastblas.Workspace
	packed                    *Packed[F]
}

// Decode appends to every segment's cache its rows of tokens in one pass over
// all of them. Every value is bit for bit what Forward computes for the whole
// sequence, however it is cut into segments and whatever else is in the batch.
func (m *Model[F]) Decode(w *DecodeSpace[F], packed *Packed[F], tokens []int32, segs []Segment[F]) {
	c, p := m.cfg, m.params
	D, H, G, E, n := c.Dim, c.Heads, c.KVHeads, c.HeadDim(), len(tokens)
	W, Q, U := (H+2*G)*E, (H+G)*E, c.upWidth()
	x, h, rstd := fit(&w.x, n*D), fit(&w.h, n*D), fit(&w.rstd, n)
	qkv, qk, o := fit(&w.qkv, n*W), fit(&w.qk, n*Q), fit(&w.o, n*D)
	up, act := fit(&w.up, n*U), fit(&w.act, n*c.FF)
	fit(&w.prob, roundUp(c.Context))
	if w.blas == nil {
		w.blas = fastblas.NewWorkspace()
	}
	w.packed = packed
	embedForward(x, tokens, in(p, m.at.emb), F(c.EmbedScale), D)
	for l, y := range m.at.layer {
		rmsForward(h, rstd, x, in(p, y.g1), F(c.NormEps), D)
		packed.forward(w.blas, false, n, h, l, matQKV, qkv)
		for _, s := range segs {
			m.attendCached(w, s, l, qkv[s.Lo*W:s.Hi*W], qk[s.Lo*Q:s.Hi*Q], o[s.Lo*D:s.Hi*D])
		}
		packed.forward(w.blas, true, n, o, l, matOut, x)
		rmsForward(h, rstd, x, in(p, y.g2), F(c.NormEps), D)
		packed.forward(w.blas, false, n, h, l, matUp, up)
		m.activate(act, up)
		packed.forward(w.blas, true, n, act, l, matDown, x)
	}
	for _, s := range segs {
		s.Cache.len += s.Hi - s.Lo
	}
}

// attendCached runs the attention of layer l for the rows of one segment.
func (m *Model[F]) attendCached(w *DecodeSpace[F], s Segment[F], l int, qkv, qk, o []F) {
	c := m.cfg
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	W, Q, T := (H+2*G)*E, (H+G)*E, s.Hi-s.Lo
	k, pos, ld := &s.Cache.layers[l], s.Cache.len, s.Cache.cap
	if pos+T > c.Context {
		panic("nn: sequence longer than the context")
	}
	pastQ, pastK := k.pastQ[:min(1, pos)*H*E], k.pastK[:min(2, pos)*G*E]
	m.position(qk, qkv, T, pos, m.at.layer[l], pastQ, pastK)
	k.remember(qkv, T, W)
	factor := F(1 / math.Sqrt(float64(E)))
	for g := range G {
		kp, v := k.kp[g*ld*E:(g+1)*ld*E], k.v[g*ld*E:(g+1)*ld*E]
		putPanels(kp, pos, qk[(H+g)*E:], Q, T, E)
		for t := range T {
			copy(v[(pos+t)*E:(pos+t+1)*E], qkv[t*W+(H+G+g)*E:])
		}
		for h := g * (H / G); h < (g+1)*(H/G); h++ {
			for t := range T {
				attend(o[t*D+h*E:t*D+(h+1)*E], w.prob, qk[t*Q+h*E:t*Q+(h+1)*E], kp, v, E, pos+t+1, factor)
			}
		}
	}
}

// Logits returns the logits (len(rows),V) after the named rows of the last
// Decode. The slice is valid until the next call.
func (m *Model[F]) Logits(w *DecodeSpace[F], rows []int32) []F {
	c := m.cfg
	D, V, n := c.Dim, c.Vocab, len(rows)
	// The residual rows move to the front of o, which is no longer wanted.
	x, h := w.o[:n*D], w.h[:n*D]
	for k, i := range rows {
		copy(x[k*D:(k+1)*D], w.x[int(i)*D:])
	}
	rmsForward(h, w.rstd[:n], x, in(m.params, m.at.gf), F(c.NormEps), D)
	logits := fit(&w.logits, n*V)
	w.packed.forward(w.blas, false, n, h, -1, 0, logits)
	return logits
}
