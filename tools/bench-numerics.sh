#!/usr/bin/env bash
# Benchmarks of the numeric core.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test -run '^$' -bench . -benchmem ./trainer/fastblas/... ./trainer/nn/...
