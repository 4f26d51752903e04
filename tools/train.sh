#!/usr/bin/env bash
# Starts a server on loopback and trains one full recipe against it.
# usage: train.sh RECIPE [seed]
set -euo pipefail
cd "$(dirname "$0")/.."
recipe=$1 seed=${2:-1}
exec bin/trainer train --recipe "recipes/$recipe.yaml" --proctor bin/proctor --seed "$seed" --out "runs/$recipe-$seed"
