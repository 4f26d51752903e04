#!/usr/bin/env bash
# Builds both programs into bin/. The flags are those of "go test", so that the
# build cache serves both; --release builds as the container image does.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
if [ "${1:-}" = --release ]; then
	export CGO_ENABLED=0
	exec go build -trimpath -ldflags="-s -w" -o bin/ ./cmd/...
fi
exec go build -o bin/ ./cmd/...
