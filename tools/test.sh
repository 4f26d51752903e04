#!/usr/bin/env bash
# The whole test run, cheap stages first; it stops at the first that fails and
# ends with a table of what each stage took. A stage whose tool is missing fails.
set -euo pipefail
cd "$(dirname "$0")/.."

report=$(mktemp)
trap 'rm -f "$report"' EXIT

# stage NAME COMMAND...: runs the command and notes its wall and CPU seconds.
stage() {
	local name=$1 TIMEFORMAT='%R s wall, %U+%S s CPU'
	shift
	echo "== $name"
	if ! { time "$@" >&3 2>&4; } 2>"$report.time"; then
		echo "FAILED: $name ($(cat "$report.time"))" >&2
		rm -f "$report.time"
		exit 1
	fi
	printf '%-18s %s\n' "$name" "$(cat "$report.time")" >>"$report"
	rm -f "$report.time"
}
exec 3>&1 4>&2

stage setup      tools/setup.sh
stage format     tools/lint.sh --format
stage mod        go mod tidy -diff
stage rules      go test ./internal/archtest
stage build      tools/build.sh
stage vet        go vet ./...
stage arm64      tools/arm64.sh --build
stage generated  tools/generate.sh --check
stage scripts    tools/web.sh
stage tests      go test -shuffle=on ./...
stage purego     go test -tags purego ./trainer/fastblas/... ./trainer/nn ./trainer/policy ./trainer/optim ./trainer/algo
stage race       tools/race.sh
stage fuzz       tools/fuzz.sh 5000x --quick
stage browser    tools/e2e.sh

echo "== all stages passed"
cat "$report"
