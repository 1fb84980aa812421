#!/usr/bin/env bash
# The main job, live: a 2-D heat solver on N processes. Once undisturbed, once
# with rank 3 killed (SIGKILL) when it reaches step 40 and rank 5 at step 70. The
# survivors must end at the same step with the same field, bit for bit.
set -euo pipefail
cd "$(dirname "$0")/.."

ranks=${1:-8}
if ! [[ $ranks =~ ^[0-9]+$ ]] || ((ranks < 6)); then
	echo "usage: scripts/demo.sh [ranks, at least 6]" >&2
	exit 2
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/goulfm" ./cmd/goulfm
go build -o "$dir/heat" ./examples/heat

# run TITLE OUTPUT FLAGS...: shows the run and keeps what it printed.
run() {
	local title=$1 output=$2
	shift 2
	printf '\n== %s\n$ goulfm run %s ./examples/heat\n' "$title" "$*"
	"$dir/goulfm" run "$@" "$dir/heat" | tee "$output"
}

run "$ranks processes, undisturbed" "$dir/calm" -n "$ranks"
run "$ranks processes, two of them killed" "$dir/killed" -n "$ranks" --kill 3@step=40 --kill 5@step=70

# result FILE: its one line "result: ...".
result() {
	grep '^result:' "$1" || { echo "demo: a run printed no result" >&2; exit 1; }
}
calm=$(result "$dir/calm")
killed=$(result "$dir/killed")

printf '\nundisturbed  %s\nwith kills   %s\n' "$calm" "$killed"
if [ "$calm" != "$killed" ]; then
	echo "DIFFERENT: the run with kills ended with another answer" >&2
	exit 1
fi
echo "the same answer, bit for bit"
