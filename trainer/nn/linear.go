package nn

import "github.com/proctor-rl/proctor/trainer/fastblas"

// linear sets y (n rows) to, or with acc adds to it, the product of a with
// matrix mat of layer l and its bias, if it has one.
func (m *Model[F]) linear(ws *fastblas.Workspace, p *Packed[F], acc bool, n int, a []F, l, mat int, y []F) {
	if b := in(m.params, m.at.layer[l].bias[mat]); len(b) > 0 {
		for i := range n {
			row := y[i*len(b) : (i+1)*len(b)]
			if acc {
				axpy(row, 1, b)
			} else {
				copy(row, b)
			}
		}
		acc = true
	}
	p.forward(ws, acc, n, a, l, mat, y)
}

// biasBackward adds to the gradient of the bias of matrix mat of layer l, if it
// has one, the n rows of dy.
func (m *Model[F]) biasBackward(n int, dy []F, l, mat int, grads []F) {
	db := in(grads, m.at.layer[l].bias[mat])
	for i := range n {
		axpy(db, 1, dy[i*len(db):(i+1)*len(db)])
	}
}
