#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other, for the given
# time each. A target that fails leaves its input in testdata/fuzz: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10s}
failed=0
while IFS=: read -r file target; do
	echo "== $target ($(dirname "$file"))"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" || failed=1
done < <(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -e 's/func //' -e 's|^\./||' | sort)
exit $failed
