package nn

import (
	"math"

	"github.com/proctor-rl/proctor/trainer/fastblas"
)

// Cache holds the keys and values of one sequence so that it can be continued
// token by token. It may lean on another cache for its first tokens.
type Cache[F Float] struct {
	len, cap int
	width    int // of a head
	layers   []cacheLayer[F]

	base    *Cache[F] // holds the first baseLen tokens, whole panels
	baseLen int
}

type cacheLayer[F Float] struct {
	kp           []F // (G, cap, E): keys from baseLen on, mixed and rotated, in panels
	v            []F // (G, cap, E): values from baseLen on
	pastQ, pastK []F // (1,HE), (2,GE): rows before mixing, newest first
}

// NewCache returns an empty cache with room for the model's context.
func (m *Model[F]) NewCache() *Cache[F] { return m.NewCaches(1)[0] }

// NewCaches returns n empty caches. They lie in one piece of memory, so that
// the pages of many MB can be large ones.
func (m *Model[F]) NewCaches(n int) []*Cache[F] {
	c := m.cfg
	E := c.HeadDim()
	// One panel more than needed: heads that lie a power of two apart would
	// share few places of the processor's caches.
	capacity := roundUp(c.Context) + panel
	size := c.KVHeads * capacity * E
	store := make([]F, n*c.Layers*2*size)
	fastblas.LargePages(store)
	cut := func() []F {
		s := store[:size:size]
		store = store[size:]
		return s
	}
	all := make([]*Cache[F], n)
	for i := range all {
		k := &Cache[F]{cap: capacity, width: E, layers: make([]cacheLayer[F], c.Layers)}
		for l := range k.layers {
			k.layers[l] = cacheLayer[F]{kp: cut(), v: cut(), pastQ: make([]F, c.Heads*E), pastK: make([]F, 2*c.KVHeads*E)}
		}
		all[i] = k
	}
	return all
}

// Len is the number of tokens in k.
func (k *Cache[F]) Len() int { return k.len }

// Reset empties k.
func (k *Cache[F]) Reset() {
	k.len, k.base, k.baseLen = 0, nil, 0
	for l := range k.layers {
		clear(k.layers[l].pastQ)
		clear(k.layers[l].pastK)
	}
}

// Fork makes k continue from, a cache of the same model that is not itself a
// fork. k reads from's memory until its Reset or next Fork, and from must not
// change until then; only what does not fill a panel is copied.
func (k *Cache[F]) Fork(from *Cache[F]) {
	if from.base != nil {
		panic("nn: fork of a fork")
	}
	k.len, k.base, k.baseLen = from.len, from, from.len/panel*panel
	for l := range k.layers {
		a, b := &k.layers[l], &from.layers[l]
		copy(a.pastQ, b.pastQ)
		copy(a.pastK, b.pastK)
		for at := 0; at < len(a.v); at += k.cap * k.width {
			copy(a.v[at:], b.v[at+k.baseLen*k.width:at+from.len*k.width])
			copy(a.kp[at:], b.kp[at+k.baseLen*k.width:at+roundUp(from.len)*k.width])
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
	Lo, Hi int  // rows of the batch
	Last   bool // the logits after its last row are wanted
}

// DecodeSpace is the scratch memory of Decode. It grows to the largest batch
// it has seen. It belongs to one goroutine at a time.
type DecodeSpace[F Float] struct {
	x, y, h, qkv, qk, o, up, act []F
	prob, logits                 []F
	norm                         normed[F]
	rows                         []int32 // whose logits are wanted
	blas                         *fastblas.Workspace
}

// Decode appends to every segment's cache its rows of tokens in one pass over
// all of them and returns the logits (n,V) after those segments that want
// them, in order; they are valid until the next call. Every value is bit for
// bit what Forward computes for the whole sequence, however it is cut into
// segments and whatever else is in the batch.
func (m *Model[F]) Decode(w *DecodeSpace[F], packed *Packed[F], tokens []int32, segs []Segment[F]) []F {
	c, p := m.cfg, m.params
	D, H, G, E, n := c.Dim, c.Heads, c.KVHeads, c.HeadDim(), len(tokens)
	W, Q, U := (H+2*G)*E, (H+G)*E, c.upWidth()
	x, h := fit(&w.x, n*D), fit(&w.h, n*D)
	w.norm.fit(c, n)
	st := w.norm
	qkv, qk, o := fit(&w.qkv, n*W), fit(&w.qk, n*Q), fit(&w.o, n*D)
	up, act := fit(&w.up, n*U), fit(&w.act, n*c.FF)
	fit(&w.prob, 2*roundUp(c.Context))
	if w.blas == nil {
		w.blas = fastblas.NewWorkspace()
	}
	w.rows = w.rows[:0]
	for _, s := range segs {
		if s.Last {
			w.rows = append(w.rows, int32(s.Hi-1))
		}
	}
	embedForward(x, tokens, in(p, m.at.emb), F(c.EmbedScale), D)
	for _, s := range segs {
		positionsForward(x[s.Lo*D:s.Hi*D], in(p, m.at.pos), s.Cache.len, D)
	}
	for l, y := range m.at.layer {
		m.norm(h, st, x, y.g1, y.c1)
		m.linear(w.blas, packed, false, n, h, l, matQKV, qkv)
		last := l == c.Layers-1
		for _, s := range segs {
			m.attendCached(w, s, l, last, qkv[s.Lo*W:s.Hi*W], qk[s.Lo*Q:s.Hi*Q], o[s.Lo*D:s.Hi*D])
		}
		if last {
			// After its keys and values the last layer matters only to
			// the rows whose logits are wanted.
			k := len(w.rows)
			gather(h, o, w.rows, D)
			gather(fit(&w.y, k*D), x, w.rows, D)
			x, o, h, st, up, act, n = w.y, h[:k*D], o[:k*D], st.first(k), up[:k*U], act[:k*c.FF], k
		}
		m.linear(w.blas, packed, true, n, o, l, matOut, x)
		m.norm(h, st, x, y.g2, y.c2)
		m.linear(w.blas, packed, false, n, h, l, matUp, up)
		m.activate(act, up)
		m.linear(w.blas, packed, true, n, act, l, matDown, x)
	}
	for _, s := range segs {
		s.Cache.len += s.Hi - s.Lo
	}
	m.norm(h, st, x, m.at.gf, m.at.cf)
	logits := fit(&w.logits, n*c.Vocab)
	packed.forward(w.blas, false, n, h, -1, 0, logits)
	return logits
}

// attendCached runs the attention of layer l for the rows of one segment; in
// the last layer only for a last row that is wanted.
func (m *Model[F]) attendCached(w *DecodeSpace[F], s Segment[F], l int, last bool, qkv, qk, o []F) {
	c := m.cfg
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	W, Q, T := (H+2*G)*E, (H+G)*E, s.Hi-s.Lo
	k, pos, off, ld := &s.Cache.layers[l], s.Cache.len, s.Cache.baseLen, s.Cache.cap
	if pos+T > c.Context {
		panic("nn: sequence longer than the context")
	}
	pastQ, pastK := k.pastQ[:min(queryTaps-1, pos)*H*E], k.pastK[:min(keyTaps-1, pos)*G*E]
	m.position(qk, qkv, T, pos, m.at.layer[l], pastQ, pastK)
	k.remember(qkv, T, W)
	from := 0
	if last {
		from = T
		if s.Last {
			from = T - 1
		}
	}
	for g := range G {
		kp, v := k.kp[g*ld*E:(g+1)*ld*E], k.v[g*ld*E:(g+1)*ld*E]
		putPanels(kp, pos-off, qk[(H+g)*E:], Q, T, E)
		for t := range T {
			copy(v[(pos-off+t)*E:(pos-off+t+1)*E], qkv[t*W+(H+G+g)*E:])
		}
	}
	// runs is what head h sees of keys and values up to row t.
	runs := func(h, t int) (base, own keyRun[F]) {
		lo, hi := h/(H/G)*ld*E, (h/(H/G)+1)*ld*E
		if off > 0 {
			b := &s.Cache.base.layers[l]
			base = keyRun[F]{b.kp[lo:hi], b.v[lo:hi], off}
		}
		return base, keyRun[F]{k.kp[lo:hi], k.v[lo:hi], pos - off + t + 1}
	}
	factor := F(1 / math.Sqrt(float64(E)))
	for t := from; t < T; t++ {
		out, q := o[t*D:(t+1)*D], qk[t*Q:t*Q+H*E]
		h := 0
		for ; pairWidth[F](E) && h+1 < H; h += 2 {
			baseA, ownA := runs(h, t)
			baseB, ownB := runs(h+1, t)
			attendPair(out[h*E:(h+2)*E], w.prob, q[h*E:(h+2)*E], baseA, ownA, baseB, ownB, factor)
		}
		for ; h < H; h++ {
			base, own := runs(h, t)
			attend(out[h*E:(h+1)*E], w.prob, q[h*E:(h+1)*E], base, own, E, factor)
		}
	}
}
