#!/usr/bin/env bash
# Runs programs whose processes pause between a check and the effect that relies on it (package
# internal/base/pausepoint), and compares each outcome with the right one. The first wrong one ends it.
#
#   scripts/pauses.sh           rounds for FOR=2m, from SEED on (default: a random one)
#   scripts/pauses.sh SEED      the round of that seed alone
#
# The seed chooses the program and the pauses: in every second round one visit in 1,000 of all places
# pauses, in the others visits of one place alone, more often. Each process mixes its pid into the seed,
# so a repeated round has other pauses of the same kind: repeat it some times.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0
go build -tags pausepoints -o "$dir/" ./cmd/goulfm ./stress/randprog ./examples/heat ./cmd/goulfm/testdata/window

# The places, by the names in the source; "store" stands for all points of internal/base/failpoint.
mapfile -t places < <(grep -rhoE --include='*.go' --exclude='*_test.go' --exclude=doc.go 'pausepoint\.At\("[^"]+"\)' . | cut -d '"' -f 2 | sort -u)
# One visit in so many pauses. A process comes to busy places for each message, to others a few times in a job.
seldom=1000 often=50 mostly=3
busy=' store engine.agrees engine.answers engine.asks engine.sends engine.shares engine.sleeps engine.tells rma.locks rma.reaches '
rare=' daemon.* launcher.* remotedaemon.* recovery.* segment.* engine.declares engine.departs engine.forgets engine.leaves engine.mourn engine.revokes rma.told '

heat=(heat -nx 40 -ny 40 -steps 60 -every 5 -print 0)
nodes=(--timeout 90s --timeout-factor 50 --host)
calm=$("$dir/goulfm" run -q -n 6 "$dir/${heat[0]}" "${heat[@]:1}" | head -n 1)

# Each case: what the output has to match, then the command.
cases=(
	'^mended [1-9][0-9]*$|goulfm run -q NODES 3 --ppn 3 window lock'
	'^|randprog -mode procs -timeout 2m -seed SEED'
	'^counted, ahead by [0-9]$|goulfm run -q NODES 3 --ppn 3 window counts'
	'^|randprog -mode nodes -timeout 2m -seed SEED'
	'HEAT|goulfm run -q -n 6 --timeout 90s --kill 2@step=30 --kill 0@repair.replace=1 HEAT'
	'^|randprog -mode goroutines -timeout 2m -seed SEED'
	'HEAT|goulfm run -q NODES 3 --ppn 2 --kill 1@step=40 --kill 4@step=40 HEAT'
	'HEAT|goulfm run -q -n 6 --timeout 90s --spares 1 --kill 3@step=20 --kill 1@step=40 HEAT'
	'^mended [1-9][0-9]*$|goulfm run -q -n 9 --timeout 90s window lock'
	'HEAT|goulfm run -q NODES 3 --ppn 2 --kill node1@step=30 HEAT'
	'^ok$|goulfm run -q -n 3 --timeout 90s --suspect-after 1s --fence window fenced'
	'HEAT|goulfm run -q NODES 3 --ppn 2 --kill 3@step=20 --kill node1@repair.replace=1 HEAT'
)

# play SEED: one round.
play() {
	local seed=$1 want words command=() plan output code=0
	IFS='|' read -r want words <<<"${cases[seed % ${#cases[@]}]}"
	for word in $words; do
		case $word in
		goulfm | randprog | window) command+=("$dir/$word") ;;
		HEAT) command+=("$dir/${heat[0]}" "${heat[@]:1}") ;;
		NODES) command+=("${nodes[@]}") ;;
		SEED) command+=("$seed") ;;
		*) command+=("$word") ;;
		esac
	done
	[[ ${command[0]} == */randprog ]] && command+=(-goulfm "$dir/goulfm")
	plan="seed=$seed,rate=$seldom"
	if ((seed / ${#cases[@]} % 2)); then
		local place=${places[seed / ${#cases[@]} / 2 % ${#places[@]}]} rate=$often
		[[ $busy == *" $place "* ]] && rate=$seldom
		[[ $rare == *" $place "* || $rare == *" ${place%.*}.* "* ]] && rate=$mostly
		plan="seed=$seed,rate=$rate,place=$place"
	fi
	output=$(GOULFM_PAUSE=$plan timeout -k 5 180 "${command[@]}" 2>"$dir/errors") || code=$?
	if ((code == 0)) && if [[ $want == HEAT ]]; then [[ $(head -n 1 <<<"$output") == "$calm" ]]; else grep -qE "$want" <<<"$output"; fi; then
		return
	fi
	printf 'pauses: seed %s: wrong: code %s, GOULFM_PAUSE=%s %s\n%s\n' "$seed" "$code" "$plan" "${command[*]//"$dir"\//}" "$output"
	tail -n 60 "$dir/errors"
	printf 'pauses: again: scripts/pauses.sh %s\n' "$seed"
	return 1
}

if (($# == 1)); then
	play "$1"
	echo "pauses: the round of seed $1 went well"
	exit
fi

span=${FOR:-2m}
case $span in
*h) until=$((SECONDS + ${span%h} * 3600)) ;;
*m) until=$((SECONDS + ${span%m} * 60)) ;;
*) until=$((SECONDS + ${span%s})) ;;
esac
first=${SEED:-$((RANDOM * 32768 + RANDOM))}
echo "pauses: for $span, seeds from $first on, places: ${places[*]}"
for ((seed = first; SECONDS < until; seed++)); do
	play "$seed"
done
echo "pauses: $((seed - first)) rounds went well"
