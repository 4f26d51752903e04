//go:build cblas && cgo

package openblas

/*
#cgo CFLAGS: -I/usr/include/x86_64-linux-gnu/openblas-pthread
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
*/
import "C"

import "unsafe"

// Available reports whether the library is linked.
const Available = true

// Start limits the library to threads threads and returns its name, version
// and the kernels that it chose.
func Start(threads int) string {
	C.openblas_set_num_threads(C.int(threads))
	return C.GoString(C.openblas_get_config()) + ", kernels " + C.GoString(C.openblas_get_corename())
}

// Sgemm computes c = op(a)*op(b) + beta*c, row by row.
func Sgemm(ta, tb bool, m, n, k int, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	C.cblas_sgemm(C.CblasRowMajor, trans(ta), trans(tb), C.blasint(m), C.blasint(n), C.blasint(k), 1,
		ptr(a), C.blasint(lda), ptr(b), C.blasint(ldb), C.float(beta), ptr(c), C.blasint(ldc))
}

func trans(t bool) uint32 {
	if t {
		return C.CblasTrans
	}
	return C.CblasNoTrans
}

func ptr(x []float32) *C.float { return (*C.float)(unsafe.Pointer(&x[0])) }
