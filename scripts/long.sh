#!/usr/bin/env bash
# Runs the long tests of the core module and of gridrpc: those that "make test" skips, or of which it
# runs a part. The arguments are the command that runs tests:
#
#   scripts/long.sh go test -count=1
#
# internal/testing/tidy/testlist finds the long tests in the sources. The packages in CHECKED are left out:
# "make long" runs all of their tests with the costly assertions.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOULFM_LONG=1

# run MODULE COMMAND...: standard input has a package of the module and a test on each line.
run() {
	local module=$1 list names packages
	shift
	list=$(cat)
	[[ -n $list ]] || return 0
	names=$(cut -d ' ' -f 2 <<<"$list" | sort -u | paste -sd '|')
	mapfile -t packages < <(cut -d ' ' -f 1 <<<"$list" | sort -u)
	(cd "$module" && set -x && "$@" -run "^($names)\$" "${packages[@]}")
}

checked=$(printf '^%s \n' ${CHECKED:-none})
all=$(go run ./internal/testing/tidy/testlist -long | grep -v '^internal/testing/longtest ' | sed 's,^,./,' | grep -v "$checked")
{ grep -v '^./gridrpc/' <<<"$all" || true; } | run . "$@"
{ grep '^./gridrpc/' <<<"$all" || true; } | sed 's,^./gridrpc/,./,' | run gridrpc "$@" -short
