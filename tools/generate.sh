#!/usr/bin/env bash
# Runs every go:generate directive. With --check it works on a copy of the
# files and fails if a committed file would change.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != --check ]; then
	exec go generate ./...
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar --exclude=./.git --exclude=node_modules --exclude=./bin --exclude=./out --exclude=./runs -cf - . | tar -xf - -C "$copy"
(cd "$copy" && go generate ./...)
drift=$(diff -rq --no-dereference -x .git . "$copy" | grep -E "^Files | $copy" | sed "s#$copy#generated#g" || true)
if [ -n "$drift" ]; then
	echo "these differ from what go generate makes of their sources (run make generate):"
	echo "$drift"
	exit 1
fi
echo "generated files are as their sources say"
