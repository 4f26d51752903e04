#!/usr/bin/env bash
# Steps a second through the whole server, over REST and WebSocket, beside the
# same steps without a server. Client and server share the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test ./internal/cli/proctor -run '^$' -bench 'Step(InProcess|REST|Socket|Sockets|Batch)$' -benchtime "${1:-3s}"
