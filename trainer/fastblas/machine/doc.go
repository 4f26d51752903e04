// Package machine measures what some cores of this machine can do at best, as
// the yardstick of a benchmark: float32 multiply-adds out of registers and
// bytes read from memory. It computes nothing else. Only benchmarks use it.
package machine

//go:generate go -C ../../../tools/asmgen run ./peak -pkg machine -out ../../trainer/fastblas/machine/peak_amd64.s -stubs ../../trainer/fastblas/machine/peak_amd64.go
