#!/usr/bin/env bash
# The linters, each pinned in a module of its own so that none of what they
# need reaches go.mod. golangci-lint takes some CPU minutes to build once.
set -euo pipefail
cd "$(dirname "$0")/.."
tool() { go tool -modfile="tools/$1/go.mod" "${@:2}"; }

bad=$(tool check gofumpt -l -extra $(find . -name node_modules -prune -o -name '*.go' ! -name '*.gen.go' -print))
[ -z "$bad" ] || { echo "not formatted by gofumpt -extra:"; echo "$bad"; exit 1; }
tool check staticcheck ./...
tool lint golangci-lint run ./...
