#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time each, on one core: as many
# packages at once as there are cores, the targets of each in turn. A target that fails leaves
# its input in testdata/fuzz: commit it.
#
#   scripts/fuzz.sh 30s              all
#   scripts/fuzz.sh 30s internal     those below a folder
set -euo pipefail
cd "$(dirname "$0")/.."

# timeIsUp OUTPUT says whether all that has failed is that the time was over: before Go 1.27 a worker that is
# busy at that moment makes the run fail with these words and no input (go.dev/issue/75804).
timeIsUp() {
	grep -qx ' *context deadline exceeded' "$1" &&
		! grep -qE 'Failing input written|failure while testing seed corpus|^panic:|^fatal error:|hung or terminated' "$1" &&
		[ "$(grep -c -- '--- FAIL' "$1")" = 1 ]
}

# package FOLDER is compiled once. It has the code 1 if an input of one of its targets fails.
package() {
	local folder=$1 code=0 target
	cd "$folder"
	if ! go test -c -fuzz . -o "$work/$folder/fuzz.test" . >"$work/$folder/out" 2>&1; then
		echo "== $folder does not compile: $(cat "$work/$folder/out")"
		return 1
	fi
	for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' ./*_test.go | cut -c 6-); do
		if "$work/$folder/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.parallel 1 \
			-test.fuzzcachedir "$(go env GOCACHE)/fuzz/$(go list .)" >"$work/$folder/out" 2>&1; then
			echo "== $target ($folder): $(grep '^fuzz: elapsed' "$work/$folder/out" | tail -n 1)"
		elif timeIsUp "$work/$folder/out"; then
			echo "== $target ($folder): the time was over; no input failed"
		else
			echo "== an input of $target fails ($folder): $(cat "$work/$folder/out")"
			code=1
		fi
	done
	return "$code"
}

time=${1:-10s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export time work
export -f package timeIsUp

# Each line is printed at once, so those of two packages do not mix. xargs has the code 123 if a package had 1.
grep -rlE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "${2:-.}" | xargs -n 1 dirname | sort -u |
	while read -r folder; do mkdir -p "$work/$folder" && echo "$folder"; done |
	xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'package "$1"' -
