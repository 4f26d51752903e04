#!/usr/bin/env bash
# The linters, each pinned in a module of its own so that none of what they
# need reaches go.mod. golangci-lint takes some CPU minutes to build once.
# usage: lint.sh [--format]   with --format, the formatter alone
set -euo pipefail
cd "$(dirname "$0")/.."
tool() { go tool -modfile="tools/$1/go.mod" "${@:2}"; }

bad=$(tool check gofumpt -l -extra .) # which leaves generated files alone
[ -z "$bad" ] || { echo "not formatted by gofumpt -extra:"; echo "$bad"; exit 1; }
[ "${1:-}" != --format ] || exit 0
tool check staticcheck ./...
tool lint golangci-lint run ./...
