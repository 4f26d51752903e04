#!/usr/bin/env bash
# usage: tools/profile.sh PROFILE
# Says what a processor profile of `trainer train --cpuprofile PROFILE` spent
# its time on: shares of the samples by what is on their stack. A sample counts
# in the first line that fits it.
set -eu
cd "$(dirname "$0")/.."
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }

# Lines are: what is printed, and what must be on the stack.
parts=(
	"forward and backward|policy\.\(\*Transformer\)\.drain"
	"sampling|policy\.\(\*samplerWorker\)\.run|policy\.\(\*sampler\)"
	"optimizer|trainer/optim\."
	"tokenizer|trainer/token\."
	"garbage collection|runtime\.gcBgMarkWorker|runtime\.bgsweep|runtime\.bgscavenge"
	"JSON, HTTP and sockets|encoding/json|net/http|gorilla/websocket|proctor/client|internal/poll"
)

# share FOCUS IGNORE: per cent of all samples with FOCUS and without IGNORE.
share() {
	go tool pprof -top -nodefraction=0 -nodecount=100000 -focus="$1" -ignore="$2" "$profile" 2>/dev/null |
		sed -n 's/^Showing nodes accounting for [^,]*, \([0-9.]*\)% of .*/\1/p' | grep . || echo 0
}

profile=$1
seen='^$'
sum=0
for p in "${parts[@]}"; do
	name=${p%%|*} match=${p#*|}
	v=$(share "$match" "$seen")
	printf '%-24s %5.1f %%\n' "$name" "$v"
	sum=$(awk "BEGIN{print $sum+$v}")
	seen="$seen|$match"
done
printf '%-24s %5.1f %%\n' "the rest" "$(awk "BEGIN{print 100-$sum}")"
