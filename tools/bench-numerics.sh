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
	echo "Made by \`tools/bench-numerics.sh --write\` on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc --all) cores, one of them used, $(go env GOVERSION), load average $(cut -d' ' -f1 /proc/loadavg)."
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
	cat <<'EOF'

What to read in it:

- Pure gonum reaches 3 to 15 % of the peak of AVX2, so that no AVX2 kernel can be 15 times as fast as it on most shapes; the limit is the peak over gonum.
- There are no AVX-512 kernels: no machine to test them on. OpenBLAS uses its AVX2 kernels here too.
- With few rows a product reads every weight once for little work; packed weights then run at the speed of the memory they lie in.
- The transformer is small (96 dimensions), so that its elementwise kernels weigh more than in a larger one. A processor profile of its training step (`go test ./trainer/policy -run '^$' -bench Train -cpuprofile f`) has 57 % in matrix products, packing included, and more than 35 % in the elementwise and attention kernels; in sampling, products take 26 % and attention over the cache about half.
- The training step counts about 2.4 million operations a token: 20,000 tokens a second are 48 GF/s.
EOF
} >"$work/report"
cat "$work/report" >"$out"
