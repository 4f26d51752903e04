#!/usr/bin/env bash
# Benchmarks of the numeric core on one core: products beside pure gonum and
# OpenBLAS, elementwise kernels, then the transformer. With --write the report
# goes to docs/benchmarks/numerics.md. OpenBLAS takes part where its headers
# are (Debian: libopenblas-dev); anything that would hobble it is unset.
set -euo pipefail
cd "$(dirname "$0")/.."
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS
out=/dev/stdout plot=
if [ "${1:-}" = --write ]; then
	mkdir -p docs/benchmarks
	out=docs/benchmarks/numerics.md
	plot="-plot docs/benchmarks/numerics.svg"
	shift
fi
tags=
if ls /usr/include/*/openblas*/cblas.h >/dev/null 2>&1; then
	tags=cblas
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -tags "$tags" -o "$work/bench" ./trainer/fastblas/internal/benchmark
go test -c -o "$work/policy" ./trainer/policy
pin=
if command -v taskset >/dev/null; then
	pin="taskset -c $(($(nproc) - 1))"
fi
{
	echo "# The numeric core: benchmarks"
	echo
	echo "Made by \`tools/bench-numerics.sh --write\` on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, one of them used, $(go env GOVERSION), load average $(cut -d' ' -f1 /proc/loadavg)."
	echo "Times are processor time, the best of several short windows, the opponents taking turns within each product: trust the ratios more than single figures. NN, NT and TN say which matrix is stored transposed: forward, gradient of the inputs, gradient of the weights."
	echo
	$pin "$work/bench" $plot "$@"
	if [ -n "$plot" ]; then
		echo
		echo "![Roofline: the products below the limits of the core](numerics.svg)"
		echo
		echo "Red: products of many rows; blue: of few, as in decoding."
	fi
	echo
	echo "The transformer of the react recipe (384 thousand parameters), one thread:"
	echo
	echo '```'
	GOMAXPROCS=1 $pin "$work/policy" -test.run '^$' -test.bench . -test.benchtime 2x | grep ^Benchmark
	echo '```'
} >"$work/report"
cat "$work/report" >"$out"
