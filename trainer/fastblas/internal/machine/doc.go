// Package machine measures what one core of this machine can do at best, as
// the yardstick of a benchmark: float32 multiply-adds out of registers and
// bytes read from memory. Only benchmarks use it.
package machine

//go:generate go -C ../../../../tools/asmgen run ./peak -pkg machine -out ../../trainer/fastblas/internal/machine/peak_amd64.s -stubs ../../trainer/fastblas/internal/machine/peak_amd64.go
