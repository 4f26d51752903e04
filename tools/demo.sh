#!/usr/bin/env bash
# Builds both programs and runs the demonstration: a server on loopback, the
# MLP baseline, then the transformer. Fails if training did not beat its start.
# usage: demo.sh [seed]
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh
plain=()
[ -t 1 ] || plain=(--plain)
exec bin/trainer demo --proctor bin/proctor --seed "${1:-1}" "${plain[@]}"
