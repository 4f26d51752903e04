package nn

// blockRows is the number of queries whose scores are computed before they are
// used, so that they are still near; tileRows is how many go through a kernel
// together. Neither shows in the result.
const (
	blockRows = 48
	tileRows  = 6
)

// headRun is one head of one sequence of T tokens in training: inputs, outputs
// and gradients as rows with strides. rows are the rows of the batch whose
// queries are asked for, one at least; row r stands at place r-lo of the
// sequence. Of queries there are only those from place first on: the others
// belong to another sequence, which this one goes on after.
type headRun[F Float] struct {
	T, lo  int
	first  int
	rows   []int32
	q      []F // (T-first,E), stride ldq
	ldq    int
	o      []F // (rows,E), stride ldo
	ldo    int
	prob   []F // (rows,T), stride roundUp(T)
	factor F
	width  int
	tmp    []F // headSpace elements

	// Of the backward pass: gradients of what was given, keys and values
	// (T,E), and of o.
	dq   []F // stride ldq
	dk   []F // stride ldk
	ldk  int
	dv   []F // stride ldv
	ldv  int
	dout []F // stride ldo
	own  []F // panelSpace elements for the panels of rows of this head
}

// headSpace is the scratch of a head of width E in a sequence of T tokens, and
// panelSpace the size of T rows of it in panels.
func headSpace(T, E int) int  { return blockRows*roundUp(T) + tileRows*E + T*E }
func panelSpace(T, E int) int { return roundUp(T) * roundUp(E) }

// at is the place in its sequence of query k.
func (h *headRun[F]) at(k int) int { return int(h.rows[k]) - h.lo }

// queries returns the queries that are asked for as rows of a stride: where
// they are if nothing lies between them, else copied together.
func (h *headRun[F]) queries() ([]F, int) {
	n, E := len(h.rows), h.width
	if h.at(n-1)-h.at(0) == n-1 {
		return h.q[(h.at(0)-h.first)*h.ldq:], h.ldq
	}
	to := h.tmp[len(h.tmp)-n*E:]
	for k := range n {
		copy(to[k*E:(k+1)*E], h.q[(h.at(k)-h.first)*h.ldq:])
	}
	return to, E
}

// forward sets o to attention's output and prob to the softmax, row by row with
// the bits of attend. keys are the panels of the transposed keys and values
// those of the values.
func (h *headRun[F]) forward(keys, values []F) {
	E, R := h.width, roundUp(h.T)
	q, ldq := h.queries()
	for b := 0; b < len(h.rows); b += blockRows {
		end := min(b+blockRows, len(h.rows))
		h.products(h.prob[b*R:], q[b*ldq:], ldq, keys, b, end)
		for k := b; k < end; k += tileRows {
			m := min(tileRows, end-k)
			n := h.at(k+m-1) + 1
			for i := k; i < k+m; i++ {
				p, t := h.prob[i*R:(i+1)*R], h.at(i)
				softmax(p[:t+1], h.factor)
				// Other tiles of this one, by query here and by key in
				// spread, see that much above the diagonal.
				clear(p[t+1 : min(R, n+tileRows)])
			}
			gemmPanels(h.o[k*h.ldo:], h.ldo, h.prob[k*R:], R, 1, values, h.T*panel, m, E, n, false)
		}
	}
}

// products sets rows b to end of dst (stride roundUp(T)) to the products of the
// rows of a with what is in panels, as far as each row sees.
func (h *headRun[F]) products(dst, a []F, lda int, panels []F, b, end int) {
	E, R := h.width, roundUp(h.T)
	first, n := b, h.at(end-1)+1
	for j := 0; j < n; j += panel {
		for h.at(first) < j {
			first++
		}
		i := (first - b) / tileRows * tileRows
		gemmPanels(dst[i*R+j:], R, a[i*lda:], lda, 1, panels[j*E:], 0, end-b-i, panel, E, false)
	}
}

// backward sets dq where queries were asked for, adds to dk and dv and uses up
// prob. keys are the panels of the keys and values those of the transposed
// values.
func (h *headRun[F]) backward(keys, values []F) {
	E, R, rows := h.width, roundUp(h.T), len(h.rows)
	packPanels(h.own, h.dout, h.ldo, rows, E)
	h.spread(h.dv, h.ldv, h.own)
	dp := h.tmp[:blockRows*R]
	for b := 0; b < rows; b += blockRows {
		end := min(b+blockRows, rows)
		h.products(dp, h.dout[b*h.ldo:], h.ldo, values, b, end)
		for k := b; k < end; k++ {
			t := h.at(k)
			// The mean of dp under prob, taken where it costs E and not T.
			mean := dot(h.dout[k*h.ldo:k*h.ldo+E], h.o[k*h.ldo:k*h.ldo+E])
			softmaxBackward(h.prob[k*R:k*R+t+1], dp[(k-b)*R:(k-b)*R+t+1], mean, h.factor)
		}
		for k := b; k < end; k += tileRows {
			h.queryGradient(keys, k, min(tileRows, end-k))
		}
	}
	q, ldq := h.queries()
	packPanels(h.own, q, ldq, rows, E)
	h.spread(h.dk, h.ldk, h.own)
}

// gradientBlock is the length of a chain in the gradient of a query.
const gradientBlock = 256

// queryGradient sets dq of m queries from k on.
func (h *headRun[F]) queryGradient(keys []F, k, m int) {
	E, R := h.width, roundUp(h.T)
	t := h.at(k)
	dq, ld := h.dq[(t-h.first)*h.ldq:], h.ldq
	n := h.at(k+m-1) + 1
	apart := n-t != m
	if apart {
		dq, ld = h.tmp[blockRows*R:], E
	}
	for j := 0; j < n; j += gradientBlock {
		gemmPanels(dq, ld, h.prob[k*R+j:], R, 1, keys[j*panel:], h.T*panel, m, E, min(gradientBlock, n-j), j > 0)
	}
	for i := 0; apart && i < m; i++ {
		copy(h.dq[(h.at(k+i)-h.first)*h.ldq:], dq[i*E:(i+1)*E])
	}
}

// spread adds to every row j of dst the sum over the queries that see it of
// prob times the row of the query in panels.
func (h *headRun[F]) spread(dst []F, ld int, panels []F) {
	R, rows, k := roundUp(h.T), len(h.rows), 0
	for j := 0; j < h.T; j += tileRows {
		for k < rows && h.at(k) < j {
			k++
		}
		if k == rows {
			return
		}
		m := min(tileRows, h.T-j)
		gemmPanels(dst[j*ld:], ld, h.prob[k*R+j:], 1, R, panels[k*panel:], rows*panel, m, h.width, rows-k, true)
	}
}
