#!/usr/bin/env bash
# Builds both programs into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...
