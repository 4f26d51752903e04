#!/usr/bin/env bash
# Latency and throughput of graded runs, beside a cold pytest in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh python pytest
exec go test -run '^$' -bench . -benchtime 40x ./internal/sandbox/...
