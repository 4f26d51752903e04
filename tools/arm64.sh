#!/usr/bin/env bash
# Runs the tests of the numeric packages as arm64 programs in an emulator, for
# machines that are none. Their golden files hold the bits of the AVX2 kernels,
# so that NEON is compared with them. It shows nothing about speed.
# usage: arm64.sh [--build | package...]
#   --build     only builds and vets (argument offsets of the assembly too)
#   package...  default: trainer/fastblas, its vec, trainer/nn
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
numeric=(./trainer/fastblas/... ./trainer/nn)

go -C tools/asmgen test ./neon
GOARCH=arm64 GOOS=linux go build "${numeric[@]}"
GOARCH=arm64 GOOS=linux go vet "${numeric[@]}"
[ "${1:-}" != --build ] || exit 0
GOARCH=arm64 GOOS=darwin go vet "${numeric[@]}"

tools/setup.sh qemu-user-static
[ $# -gt 0 ] || set -- trainer/fastblas trainer/fastblas/vec trainer/nn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for check in "" -d=checkptr; do
	for package in "$@"; do
		GOARCH=arm64 GOOS=linux go test -c -o "$work/the.test" \
			-gcflags="github.com/proctor-rl/proctor/...=$check" "./$package"
		# A test runs where its testdata is.
		(cd "$package" && qemu-aarch64-static "$work/the.test" -test.v -test.timeout 30m) >"$work/out" 2>&1 ||
			{ grep -vE '^=== |^ +--- PASS' "$work/out"; echo "FAILED: $package $check"; exit 1; }
		echo "$package $check: $(grep -c '^--- PASS' "$work/out") tests passed"
		# Nothing may have passed for want of NEON.
		if grep -E '^ *--- SKIP|no assembly here' "$work/out"; then exit 1; fi
		[ "$package" = trainer/nn ] || grep -qE '^ +--- PASS: .*/neon ' "$work/out" || { echo "FAILED: $package ran without NEON"; exit 1; }
	done
done
