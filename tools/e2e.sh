#!/usr/bin/env bash
# The browser test (web/e2e): needs node, npm and Debian's chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh chromium node
cd web/e2e
[ node_modules -nt package-lock.json ] || npm ci --no-audit --no-fund --silent
exec node run.mjs
