#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other, for the given
# time each. A target that fails leaves its input in testdata/fuzz: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp)
trap 'rm -f "$out"' EXIT

# module prints the folder of the module that a folder belongs to.
module() {
	local at=$1
	while [ ! -e "$at/go.mod" ]; do at=$(dirname "$at"); done
	echo "$at"
}

# timeIsUp says whether all that has failed is that the time was over: before Go 1.27 a worker that is
# busy at that moment makes the run fail with these words and no input (go.dev/issue/75804).
timeIsUp() {
	grep -qx ' *context deadline exceeded' "$out" &&
		! grep -qE 'Failing input written|failure while testing seed corpus|^panic:|^fatal error:|hung or terminated' "$out" &&
		[ "$(grep -c -- '--- FAIL' "$out")" = 1 ]
}

time=${1:-10s}
failed=()
while IFS=: read -r file target; do
	folder=$(dirname "$file")
	at=$(module "$folder")
	echo "== $target ($folder)"
	if (cd "$at" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(realpath --relative-to="$OLDPWD/$at" "$OLDPWD/$folder")") >"$out" 2>&1; then
		tail -n 1 "$out"
		continue
	fi
	cat "$out"
	if timeIsUp; then
		echo "== $target: the time was over; no input failed"
	else
		failed+=("$target ($folder)")
	fi
done < <(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -e 's/func //' -e 's|^\./||' | sort)
if ((${#failed[@]})); then
	printf 'an input fails: %s\n' "${failed[@]}"
	exit 1
fi
