#!/usr/bin/env bash
# Unit tests of the page's own scripts, which run in node as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh node
exec node --test web/test/
