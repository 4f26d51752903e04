// Package asmgen is the generator of the assembly that trainer/fastblas
// commits. It is a module of its own, so that nothing it needs reaches the
// users of the root module. Run it through go generate in trainer/fastblas.
package asmgen
