#!/usr/bin/env bash
# Benchmarks of the numeric core: products beside pure gonum and OpenBLAS and
# elementwise kernels on one core, then training steps and sampling at three
# sizes beside PyTorch on one and two threads, then the model of the react
# recipe. With --write the report goes to docs/benchmarks/numerics.md.
#
#   tools/bench-numerics.sh [--write] [--keep DIR]
#   tools/bench-numerics.sh --quick     only the three sizes, no opponents
#
# What --keep DIR holds already is not measured again, so that a report can be
# made in several sittings; its note.md, if any, says what was special. OpenBLAS takes part where its headers are (Debian:
# libopenblas-dev). PyTorch takes part with every interpreter in PYTHONS that
# has it, compiled too unless COMPILE=0. Anything that would hobble the
# opponents is unset. BUDGET bounds the contest with PyTorch (7m).
set -euo pipefail
cd "$(dirname "$0")/.."
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS OMP_NUM_THREADS OMP_WAIT_POLICY
unset MKL_NUM_THREADS MKL_DEBUG_CPU_TYPE MKL_ENABLE_INSTRUCTIONS ONEDNN_MAX_CPU_ISA ATEN_CPU_CAPABILITY
write= keep= scratch=
while [ $# -gt 0 ]; do
	case $1 in
	--write) write=yes ;;
	--keep) keep=$2 && shift ;;
	--quick) exec go run ./trainer/policy/internal/benchmark -quick "${@:2}" ;;
	*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
	esac
	shift
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
keep=${keep:-$scratch}
mkdir -p "$keep"

tags=
if ls /usr/include/*/openblas*/cblas.h >/dev/null 2>&1; then
	tags=cblas
else
	echo "OpenBLAS takes no part: its headers are missing (apt-get install libopenblas-dev)" >&2
fi
go build -tags "$tags" -o "$scratch/products" ./trainer/fastblas/internal/benchmark
go build -o "$scratch/models" ./trainer/policy/internal/benchmark
go test -c -o "$scratch/policy" ./trainer/policy
pin=
if command -v taskset >/dev/null; then
	pin="taskset -c $(($(nproc) - 1))"
fi

# The opponents: one for each interpreter that has PyTorch.
opponents=()
side=tools/bench/torch_side.py
for python in ${PYTHONS:-python3 /usr/bin/python3 .bench/bin/python}; do
	if version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null); then
		case " ${seen:-} " in *" $version "*) continue ;; esac
		seen="${seen:-} $version"
		opponents+=(-opponent "$python $side")
		if [ "${COMPILE:-1}" = 1 ] && "$python" -c 'import torch; torch.compile' 2>/dev/null && command -v g++ >/dev/null; then
			opponents+=(-opponent "$python $side --compile")
		fi
	fi
done
if [ ${#opponents[@]} -eq 0 ]; then
	cat >&2 <<-'EOT'
		PyTorch takes no part: no interpreter has it. To compare with the newest:
		    python3 -m venv .bench && .bench/bin/pip install torch numpy
		and with Debian's:
		    apt-get install python3-torch
		Other interpreters are named by PYTHONS="path path".
	EOT
fi

# A part is measured into a file of its own, unless it is there.
part() {
	[ -s "$keep/$1" ] && return
	shift
	"$@"
}
products() { $pin "$scratch/products" -plot "$keep/products.svg" >"$keep/products.md.new" && mv "$keep/products.md.new" "$keep/products.md"; }
models() { "$scratch/models" -rounds 12 -budget "${BUDGET:-7m}" -save "$keep/models.json" "${opponents[@]}" >/dev/null; }
recipe() {
	GOMAXPROCS=1 $pin "$scratch/policy" -test.run '^$' -test.bench 'Train|Sample' -test.benchtime 2x | grep ^Benchmark >"$keep/recipe.new"
	mv "$keep/recipe.new" "$keep/recipe"
}
part models.json models
part products.md products
part recipe recipe

{
	echo "# The numeric core: benchmarks"
	echo
	echo "Made by \`tools/bench-numerics.sh --write\` on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc --all) cores, $(go env GOVERSION)."
	echo
	echo "## Training and sampling beside PyTorch"
	echo
	cat tools/bench/models.md
	echo
	if [ -s "$keep/note.md" ]; then
		cat "$keep/note.md"
		echo
	fi
	"$scratch/models" -load "$keep/models.json" -plot "$scratch/models.svg"
	echo
	echo "![Roofline: training steps and sampling below the limits of the cores](models.svg)"
	echo
	echo "Red: training steps; blue: sampling; filled on two threads, hollow on one; grey: the opponents. Point at one to read which it is."
	echo
	echo "## Products and elementwise kernels"
	echo
	echo "One core. Times are processor time, the best of several short windows, the opponents taking turns within each product: trust the ratios more than single figures. NN, NT and TN say which matrix is stored transposed: forward, gradient of the inputs, gradient of the weights."
	echo
	cat "$keep/products.md"
	echo
	echo "![Roofline: the products below the limits of the core](numerics.svg)"
	echo
	echo "Red: products of many rows; blue: of few, as in decoding."
	echo
	echo "The transformer of the react recipe (384 thousand parameters), one thread:"
	echo
	echo '```'
	cat "$keep/recipe"
	echo '```'
	echo
	cat tools/bench/products.md
} >"$scratch/report"
if [ -n "$write" ]; then
	cp "$scratch/report" docs/benchmarks/numerics.md
	cp "$scratch/models.svg" docs/benchmarks/models.svg
	cp "$keep/products.svg" docs/benchmarks/numerics.svg
fi
cat "$scratch/report"
