#!/usr/bin/env bash
# Runs each gate in turn and tells the time that it took.
#
#   scripts/gates.sh check     what CI runs; ends at the first gate that fails
#   scripts/gates.sh nightly   hours of random runs with fresh seeds; runs all gates
#
# A gate that exits with code 77 could not be done here: it is named as skipped at the
# end, never as passed.
set -euo pipefail
cd "$(dirname "$0")/.."

skipped=() failed=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# gate NAME COMMAND...
gate() {
	local name=$1 code=0 start=$SECONDS
	shift
	printf '\n== %s: %s\n' "$name" "$*"
	"$@" 2>&1 | tee "$log" || code=${PIPESTATUS[0]}
	case $code in
	0) printf '== %s: passed in %d s\n' "$name" $((SECONDS - start)) ;;
	77) skipped+=("$name") && printf '== %s: SKIPPED\n' "$name" ;;
	*) failed+=("$name") && printf '== %s: FAILED with code %d after %d s\n' "$name" "$code" $((SECONDS - start)) && excerpt ;;
	esac
}

# excerpt says once more what a gate that failed had to say, where its output is thousands of lines.
excerpt() {
	printf '\n== what failed:\n'
	grep -nE -A 25 '^ *--- FAIL|^panic:|^fatal error:|DATA RACE|^FAIL|: wrong|^\S+\.go:[0-9]+:[0-9]+:' "$log" | head -n 200 | cut -c 1-300 || true
}

# must NAME COMMAND...: without it the next gates make no sense.
must() {
	gate "$@"
	((${#failed[@]} == 0)) || verdict
}

verdict() {
	if ((${#failed[@]})); then
		printf '\nFAILED after %d s: %s\n' "$SECONDS" "${failed[*]}"
	else
		printf '\nno gate failed, in %d s\n' "$SECONDS"
	fi
	if ((${#skipped[@]})); then
		printf 'SKIPPED: %s\n' "${skipped[*]}"
	fi
	exit $((${#failed[@]} > 0))
}

make() { command make --no-print-directory "$@"; }

# compare_with_base needs the history of the repository: without the revision in bench/BASE it is skipped.
compare_with_base() {
	if ! git cat-file -e "$(<bench/BASE)^{commit}" 2>/dev/null; then
		echo "bench/BASE names a revision that this checkout does not have: fetch the whole history"
		return 77
	fi
	make ab AB="-short -limit"
}

# The seed is fixed: a change is judged by what it changes. The nightly runs draw others.
check() {
	must test make test
	must long make long
	must race make race
	must lint make lint
	must vulns scripts/vulns.sh
	must fuzz make fuzz FUZZFOR=2s
	must sim make sim SIM="-seed 1 -agreements-total 100000 -deaths-total 15000" SIMNODES="-seed 1 -nodes 600"
	must random make random ROUNDS=200 RANDOM="-seed 1"
	must pauses make pauses SEED=1
	must ab compare_with_base
}

nightly() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		gate sim make sim
		gate sim-repairs make sim-repairs
	done
	gate random make random ROUNDS=10000
	gate pauses make pauses FOR=1h
	gate kill.all env GOULFM_LONG=1 go test ./cmd/goulfm -count=1 -kill.all -timeout 1h
	gate stress make stress KILLS="-kills 1000" SHRINKS="-rounds 1000" REPLACES="-rounds 1000"
	gate nodes make nodes
	gate netns make netns
	gate mixed scripts/mixed.sh
	gate fuzz make fuzz FUZZFOR=10m
	gate sim-deep make sim-deep
}

case ${1:-} in
check | nightly)
	"$1"
	verdict
	;;
*)
	echo "usage: scripts/gates.sh check|nightly" >&2
	exit 2
	;;
esac
