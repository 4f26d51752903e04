package nn

import "unsafe"

// Decoding computes attention one query at a time, of one head or of two narrow
// ones. Keys are stored in panels of 16, within a panel transposed, so that the
// sums over the head's width run in ascending order while 16 keys lie side by
// side and a sequence can grow at its end. Training (attention_train.go) takes the queries in tiles;
// both add up a score over the width of the head and an output over the keys in
// one ascending chain, which is why they agree bit for bit.

// panel is the number of keys that lie side by side.
const panel = 16

// roundUp is n or the next multiple of a panel.
func roundUp(n int) int { return (n + panel - 1) &^ (panel - 1) }

// keyRun is n keys in panels and their values as rows.
type keyRun[F Float] struct {
	kp, v []F
	n     int
}

// attend sets out (E) to the mixture of values (rows of stride ldv) by the
// softmax of the products of q (E) with their keys, times factor, and leaves
// the softmax in prob, which has room for the number of keys rounded up to
// whole panels. The keys are those of base, whole panels that sequences share
// or none, and after them own. Where the border lies changes no bit.
func attend[F Float](out, prob, q []F, base, own keyRun[F], ldv int, factor F) {
	if base.n > 0 {
		scores(prob[:base.n], q, base.kp, base.n)
	}
	scores(prob[base.n:], q, own.kp, own.n)
	softmax(prob[:base.n+own.n], factor)
	mixRows(out, prob, base.v, base.n, own.v, own.n, ldv)
}

// pairWidth reports whether attendPair takes heads of width E.
func pairWidth[F Float](E int) bool { return is32[F]() && fast && E == 32 }

// attendPair is attend for two heads that lie side by side in out and q, whose
// keys and values are as many, with the same bits. It is for pairWidth only;
// prob has room for both.
func attendPair[F Float](out, prob, q []F, baseA, ownA, baseB, ownB keyRun[F], factor F) {
	const E = 32
	n0, n := baseA.n, ownA.n
	all, up := n0+n, n0+roundUp(n)
	for i, h := range [2][2]keyRun[F]{{baseA, ownA}, {baseB, ownB}} {
		p, q := prob[i*up:(i+1)*up], q[i*E:(i+1)*E]
		if n0 > 0 {
			scores(p[:n0], q, h[0].kp, n0)
		}
		scores(p[n0:], q, h[1].kp, n)
		softmax(p[:all], factor)
	}
	_, _, _ = out[2*E-1], ownA.v[n*E-1], ownB.v[n*E-1]
	if n0 > 0 {
		_, _ = baseA.v[n0*E-1], baseB.v[n0*E-1]
	}
	mixPairKernel(&as32(out)[0], &as32(prob)[0], up, unsafe.SliceData(as32(baseA.v)), unsafe.SliceData(as32(baseB.v)),
		&as32(ownA.v)[0], &as32(ownB.v)[0], n0, n)
}

// scores sets s[j] = sum over e of q[e] key[j][e] for the first n keys of kp.
// It may write up to the end of the last panel.
func scores[F Float](s, q, kp []F, n int) {
	E := len(q)
	up := roundUp(n)
	s, kp = s[:up], kp[:up*E]
	if is32[F]() && fast {
		scoresKernel(&as32(s)[0], &as32(q)[0], &as32(kp)[0], n, E)
		return
	}
	clear(s)
	for j := 0; j < n; j += panel {
		for e, v := range q {
			axpy(s[j:j+panel], v, kp[j*E+e*panel:j*E+(e+1)*panel])
		}
	}
}

// mixRows sets out[e] = sum over j of p[j] row[j][e] over n0 rows of v0
// and n rows of v.
func mixRows[F Float](out, p, v0 []F, n0 int, v []F, n, ld int) {
	if is32[F]() && fast && len(out)%8 == 0 {
		_, _ = p[n0+n-1], v[(n-1)*ld+len(out)-1]
		if n0 > 0 {
			_ = v0[(n0-1)*ld+len(out)-1]
		}
		mixRowsKernel(&as32(out)[0], &as32(p)[0], unsafe.SliceData(as32(v0)), &as32(v)[0], ld, n0, n, len(out))
		return
	}
	clear(out)
	for j, w := range p[:n0] {
		axpy(out, w, v0[j*ld:j*ld+len(out)])
	}
	for j, w := range p[n0 : n0+n] {
		axpy(out, w, v[j*ld:j*ld+len(out)])
	}
}

// putPanels stores T rows of src (E, stride lds) as the keys from number at on.
func putPanels[F Float](kp []F, at int, src []F, lds, T, E int) {
	for t := range T {
		j := at + t
		p := kp[j/panel*panel*E+j%panel:]
		for e, v := range src[t*lds : t*lds+E] {
			p[e*panel] = v
		}
	}
}
