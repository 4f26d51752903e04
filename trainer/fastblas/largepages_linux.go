package fastblas

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// LargePages asks the kernel to back s by pages of 2 MB instead of 4 KB, for
// memory of many MB that is read through again and again: its translations then
// stay in the processor. Call it before s is used. The kernel may refuse.
func LargePages[F float32 | float64](s []F) {
	const page = 2 << 20
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	skip := (page - start%page) % page
	size := uintptr(len(s)) * unsafe.Sizeof(F(0))
	if size < skip+page {
		return
	}
	whole := (size - skip) / page * page
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), skip)), whole), unix.MADV_HUGEPAGE)
}
