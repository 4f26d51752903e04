#!/usr/bin/env bash
# Runs every fuzz target for a while, one after the other, since "go test -fuzz"
# takes one target at a time.
# usage: fuzz.sh [BUDGET] [--quick]
# BUDGET is a time (10s) or a number of executions (5000x). CI counts executions:
# up to Go 1.26 the end of a timed run is now and then reported as a failure,
# "context deadline exceeded", with no input to blame (Go issue 75804), and a count
# is also the same amount of work on every machine.
# With --quick, packages that stand on much code of others (SQLite, plotting) are
# left out: instrumenting that takes minutes. Their seeds run as tests anyway.
set -euo pipefail
cd "$(dirname "$0")/.."
each=${1:-10s}
heavy=:
[ "${2:-}" != --quick ] || heavy=:server:trainer:
found=0
while IFS=: read -r path target; do
	found=$((found + 1))
	if [[ $heavy == *:$path:* ]]; then
		echo "$target in $path: left out of a quick run"
		continue
	fi
	echo "$target in $path"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "./$path" | grep -v '^fuzz: elapsed' || exit 1
done < <(grep -rHoE --include='*_test.go' --exclude-dir=node_modules '^func Fuzz[A-Za-z0-9_]+' . |
	sed -E 's#^\./##; s#/[^/]+:func #:#' | sort -u)
[ "$found" -gt 0 ] || { echo "no fuzz target found"; exit 1; }
