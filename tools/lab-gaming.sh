#!/usr/bin/env bash
# The exercise on reward gaming: one GRPO recipe on the code environment whose
# tests can be written over and on the protected one, and a picture of both.
# usage: lab-gaming.sh [seed [seeds]]
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh
exec bin/trainer lab gaming --proctor bin/proctor --seed "${1:-1}" --seeds "${2:-1}"
