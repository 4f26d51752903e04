//go:build !purego

#include "textflag.h"

// Kernels of attention for AVX2 and FMA. Registers: DI destination, CX how many
// columns or rows are left, Y0-Y3 accumulators.

// func scoresKernel(s, q, kt *float32, ld, n, e int)
// s[j] = sum over i < e of q[i]*kt[i*ld+j], each a chain in ascending i, for
// j < n rounded up to 8.
TEXT ·scoresKernel(SB), NOSPLIT, $0-48
	MOVQ s+0(FP), DI
	MOVQ q+8(FP), SI
	MOVQ kt+16(FP), DX
	MOVQ ld+24(FP), R8
	SHLQ $2, R8
	MOVQ n+32(FP), CX
	ADDQ $7, CX
	ANDQ $-8, CX
	MOVQ e+40(FP), R9

s32:
	CMPQ CX, $32
	JLT  s16
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ DX, R10
	MOVQ SI, R11
	MOVQ R9, R12

s32in:
	VBROADCASTSS (R11), Y4
	VFMADD231PS  (R10), Y4, Y0
	VFMADD231PS  32(R10), Y4, Y1
	VFMADD231PS  64(R10), Y4, Y2
	VFMADD231PS  96(R10), Y4, Y3
	ADDQ $4, R11
	ADDQ R8, R10
	DECQ R12
	JNZ  s32in
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, DX
	SUBQ $32, CX
	JMP  s32

s16:
	CMPQ CX, $16
	JLT  s8
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ DX, R10
	MOVQ SI, R11
	MOVQ R9, R12

s16in:
	VBROADCASTSS (R11), Y4
	VFMADD231PS  (R10), Y4, Y0
	VFMADD231PS  32(R10), Y4, Y1
	ADDQ $4, R11
	ADDQ R8, R10
	DECQ R12
	JNZ  s16in
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, DX
	SUBQ $16, CX

s8:
	TESTQ CX, CX
	JEQ  sdone
	VXORPS Y0, Y0, Y0
	MOVQ DX, R10
	MOVQ SI, R11
	MOVQ R9, R12

s8in:
	VBROADCASTSS (R11), Y4
	VFMADD231PS  (R10), Y4, Y0
	ADDQ $4, R11
	ADDQ R8, R10
	DECQ R12
	JNZ  s8in
	VMOVUPS Y0, (DI)

sdone:
	VZEROUPPER
	RET

// func mixRowsKernel(out, p, v *float32, ld, n, e int)
// out[i] = sum over j < n of p[j]*v[j*ld+i] for i < e, a multiple of 8. Rows go
// to four chains by j mod 4, the last n mod 4 rows to the first of them.
TEXT ·mixRowsKernel(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ v+16(FP), DX
	MOVQ ld+24(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R13
	MOVQ e+40(FP), R9

m16:
	CMPQ R9, $16
	JLT  m8
	MOVQ p+8(FP), SI
	MOVQ n+32(FP), CX
	MOVQ DX, R10
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

m16four:
	CMPQ CX, $4
	JLT  m16one
	VBROADCASTSS (SI), Y8
	VBROADCASTSS 4(SI), Y9
	VBROADCASTSS 8(SI), Y10
	VBROADCASTSS 12(SI), Y11
	VFMADD231PS  (R10), Y8, Y0
	VFMADD231PS  32(R10), Y8, Y1
	VFMADD231PS  (R10)(R8*1), Y9, Y2
	VFMADD231PS  32(R10)(R8*1), Y9, Y3
	VFMADD231PS  (R10)(R8*2), Y10, Y4
	VFMADD231PS  32(R10)(R8*2), Y10, Y5
	VFMADD231PS  (R10)(R13*1), Y11, Y6
	VFMADD231PS  32(R10)(R13*1), Y11, Y7
	ADDQ $16, SI
	LEAQ (R10)(R8*4), R10
	SUBQ $4, CX
	JMP  m16four

m16one:
	TESTQ CX, CX
	JEQ  m16sum
	VBROADCASTSS (SI), Y8
	VFMADD231PS  (R10), Y8, Y0
	VFMADD231PS  32(R10), Y8, Y1
	ADDQ $4, SI
	ADDQ R8, R10
	DECQ CX
	JMP  m16one

m16sum:
	VADDPS Y2, Y0, Y0
	VADDPS Y6, Y4, Y4
	VADDPS Y4, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y7, Y5, Y5
	VADDPS Y5, Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, DX
	SUBQ $16, R9
	JMP  m16

m8:
	TESTQ R9, R9
	JEQ  mdone
	MOVQ p+8(FP), SI
	MOVQ n+32(FP), CX
	MOVQ DX, R10
	VXORPS Y0, Y0, Y0
	VXORPS Y2, Y2, Y2
	VXORPS Y4, Y4, Y4
	VXORPS Y6, Y6, Y6

m8four:
	CMPQ CX, $4
	JLT  m8one
	VBROADCASTSS (SI), Y8
	VBROADCASTSS 4(SI), Y9
	VBROADCASTSS 8(SI), Y10
	VBROADCASTSS 12(SI), Y11
	VFMADD231PS  (R10), Y8, Y0
	VFMADD231PS  (R10)(R8*1), Y9, Y2
	VFMADD231PS  (R10)(R8*2), Y10, Y4
	VFMADD231PS  (R10)(R13*1), Y11, Y6
	ADDQ $16, SI
	LEAQ (R10)(R8*4), R10
	SUBQ $4, CX
	JMP  m8four

m8one:
	TESTQ CX, CX
	JEQ  m8sum
	VBROADCASTSS (SI), Y8
	VFMADD231PS  (R10), Y8, Y0
	ADDQ $4, SI
	ADDQ R8, R10
	DECQ CX
	JMP  m8one

m8sum:
	VADDPS Y2, Y0, Y0
	VADDPS Y6, Y4, Y4
	VADDPS Y4, Y0, Y0
	VMOVUPS Y0, (DI)

mdone:
	VZEROUPPER
	RET

// func addOuterKernel(dst *float32, ld int, p, x *float32, n, e int)
// dst[j*ld+i] += p[j]*x[i] for j < n and i < e, a multiple of 8.
TEXT ·addOuterKernel(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ ld+8(FP), R8
	SHLQ $2, R8
	MOVQ x+24(FP), DX
	MOVQ e+40(FP), R9

o16:
	CMPQ R9, $16
	JLT  o8
	MOVQ p+16(FP), SI
	MOVQ n+32(FP), CX
	MOVQ DI, R10
	VMOVUPS (DX), Y0
	VMOVUPS 32(DX), Y1

o16in:
	VBROADCASTSS (SI), Y4
	VMOVUPS (R10), Y2
	VMOVUPS 32(R10), Y3
	VFMADD231PS Y4, Y0, Y2
	VFMADD231PS Y4, Y1, Y3
	VMOVUPS Y2, (R10)
	VMOVUPS Y3, 32(R10)
	ADDQ $4, SI
	ADDQ R8, R10
	DECQ CX
	JNZ  o16in
	ADDQ $64, DI
	ADDQ $64, DX
	SUBQ $16, R9
	JMP  o16

o8:
	TESTQ R9, R9
	JEQ  odone
	MOVQ p+16(FP), SI
	MOVQ n+32(FP), CX
	MOVQ DI, R10
	VMOVUPS (DX), Y0

o8in:
	VBROADCASTSS (SI), Y4
	VMOVUPS (R10), Y2
	VFMADD231PS Y4, Y0, Y2
	VMOVUPS Y2, (R10)
	ADDQ $4, SI
	ADDQ R8, R10
	DECQ CX
	JNZ  o8in

odone:
	VZEROUPPER
	RET

// func mulAddKernel(dst, x, y *float32, n int)
// dst[i] += x[i]*y[i] for i < n, a multiple of 8.
TEXT ·mulAddKernel(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX

a8:
	VMOVUPS (SI), Y0
	VMOVUPS (DI), Y1
	VFMADD231PS (DX), Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $8, CX
	JG   a8
	VZEROUPPER
	RET
