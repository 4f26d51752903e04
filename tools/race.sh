#!/usr/bin/env bash
# The packages with goroutines of their own, under the race detector. The rest
# is single-threaded arithmetic: "make race" covers all of it.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=()
for dir in client server trainer/rollout internal/sandbox; do
	[ -d "$dir" ] && packages+=("./$dir/...")
done
[ ${#packages[@]} -gt 0 ] || { echo "no package to test under -race"; exit 1; }
exec go test -race -short -shuffle=on "${packages[@]}"
