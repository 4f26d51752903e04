package nn

import (
	"unsafe"

	"github.com/proctor-rl/proctor/trainer/fastblas"
)

// Attention is computed one query of one head at a time. Keys are stored in
// panels of 16, within a panel transposed, so that the sums over the head's
// width run in ascending order while 16 keys lie side by side and a sequence
// can grow at its end. Training, prefill and decoding all come through attend,
// which is why they agree bit for bit.

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

// headGrad is one head of one sequence of T tokens during the backward pass:
// its inputs and gradients as rows with strides. rows are the rows of the batch
// whose queries were asked for; the sequence begins at row lo.
type headGrad[F Float] struct {
	T, lo        int
	rows         []int32
	q, dq, k, dk []F // (T,E), stride ldq
	ldq          int
	vp           []F // values in panels
	dv           []F // (T,E), stride ldv
	ldv          int
	o, dout      []F // (rows,E), stride ldo
	ldo          int
	blas         *fastblas.Workspace
	prob         []F // (rows,T), stride roundUp(T); what lies above the diagonal is overwritten
	factor       F
	width        int
}

// backward is the gradient of attend over the queries of the head: it sets
// their dq and adds to dk and dv. tmp has room for four rows of roundUp(T) and
// eight of E.
func (h *headGrad[F]) backward(tmp []F) {
	E, R := h.width, roundUp(h.T)
	q, dq := tmp[4*R:4*R+4*E], tmp[4*R+4*E:]
	for k := 0; k < len(h.rows); k += 4 {
		m := min(4, len(h.rows)-k)
		n := int(h.rows[k+m-1]) - h.lo + 1
		for i := range m {
			t := int(h.rows[k+i]) - h.lo
			d, p := tmp[i*R:i*R+n], h.prob[(k+i)*R:(k+i)*R+n]
			scores(tmp[i*R:(i+1)*R], h.dout[(k+i)*h.ldo:(k+i)*h.ldo+E], h.vp, t+1)
			// The mean of dp under p, taken where it costs E and not T.
			row := (k + i) * h.ldo
			mean := dot(h.dout[row:row+E], h.o[row:row+E])
			softmaxBackward(d[:t+1], p[:t+1], mean, h.factor)
			// The four queries go together below, so all have n keys.
			clear(d[t+1:])
			clear(p[t+1:])
			copy(q[i*E:(i+1)*E], h.q[t*h.ldq:])
		}
		gemmNN(h.blas, false, m, E, n, tmp, R, h.k, h.ldq, dq, E)
		for i := range m {
			t := int(h.rows[k+i]) - h.lo
			copy(h.dq[t*h.ldq:t*h.ldq+E], dq[i*E:(i+1)*E])
		}
		addOuter(h.dk, h.ldq, tmp, R, q, E, m, n, E)
		addOuter(h.dv, h.ldv, h.prob[k*R:], R, h.dout[k*h.ldo:], h.ldo, m, n, E)
	}
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

// addOuter adds to row j of dst, for j < n, the sum over i < m of p[i][j] times
// the first E of row i of x.
func addOuter[F Float](dst []F, ld int, p []F, ldp int, x []F, ldx, m, n, E int) {
	_, _, _ = dst[(n-1)*ld+E-1], p[(m-1)*ldp+n-1], x[(m-1)*ldx+E-1]
	if is32[F]() && fast && E%8 == 0 {
		if m == 4 {
			addOuter4Kernel(&as32(dst)[0], ld, &as32(p)[0], ldp, &as32(x)[0], ldx, n, E)
			return
		}
		for i := range m {
			addOuterKernel(&as32(dst)[0], ld, &as32(p)[i*ldp], &as32(x)[i*ldx], n, E)
		}
		return
	}
	for j := range n {
		for i := range m {
			axpy(dst[j*ld:j*ld+E], p[i*ldp+j], x[i*ldx:i*ldx+E])
		}
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
