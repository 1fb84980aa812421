#!/usr/bin/env bash
# Launchers, daemons and ranks of two builds meet: those of this tree, and those of an earlier commit.
# No such job may start. Each has to end within 10 s, with a code other than 0 and one clear line for
# each process that was refused: the line names the rank or the node, and a remedy. No process may be
# left. (cmd/goulfm/builds_linux_test.go tests pairs that differ in the number of the build alone.)
#
#   scripts/mixed.sh [COMMIT]     default: e872d31. SHOW=1 prints what each pair has printed
#
# Exit code 77: skipped, because the history does not have the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-e872d31}
if ! git rev-parse -q --verify "$base^{commit}" >/dev/null 2>&1; then
	echo "mixed: skipped: commit $base is not in the history here: clone without --depth, or git fetch --unshallow" >&2
	exit 77
fi

own=$(mktemp -d "${TMPDIR:-/tmp}/mixed.XXXX")
cleanup() {
	git worktree remove --force "$own/tree" 2>/dev/null || true
	rm -rf "$own"
	git worktree prune
}
trap cleanup EXIT
git worktree add -q --detach "$own/tree" "$base"
export CGO_ENABLED=0
for build in new old; do
	if [[ $build == old ]]; then tree=$own/tree; else tree=.; fi
	for program in goulfm goulfm/testdata/prog; do
		(cd "$tree" && go build -buildvcs=false -o "$own/$build-${program##*/}" "./cmd/$program")
	done
done

# A daemon of the other build on the second node only: the first start takes FIRST, later ones SECOND.
cat >"$own/second" <<'END'
#!/bin/sh
mkdir "$ONCE" 2>/dev/null && exec "$FIRST" "$@"
exec "$SECOND" "$@"
END
# One rank of the other build: that of number RANK is OTHER, the others are OURS.
cat >"$own/byrank" <<'END'
#!/bin/sh
case $GOULFM_BOOT in *"\"rank\":$RANK,"*) exec "$OTHER" "$@" ;; *) exec "$OURS" "$@" ;; esac
END
chmod +x "$own/second" "$own/byrank"

# left lists the processes of these builds that have not ended.
left() {
	find /proc/[0-9]*/exe -lname "$own/*" 2>/dev/null | cut -d / -f 3 | sort -n || true
}

limit=10 # seconds
names='(rank|node) [0-9]+'
remedy='install the same one on all nodes|build both from one version of goulfm'
failed=0 poor=0

# pair NAME LINES KNOWN COMMAND... runs a job. The causes are the lines of standard error without the
# event log, and without the errors of other ranks that have lost the refused one. KNOWN, if it is not
# empty, is a pattern of causes that lack a name or a remedy, as one of the builds prints them today.
pair() {
	local name=$1 lines=$2 known=$3 code=0 wrong="" causes is pid until
	shift 3
	timeout -k 5 "$limit" "$@" </dev/null >"$own/out" 2>"$own/errs" || code=$?
	causes=$(grep -vE '^goulfm: (\+[0-9.]+s |rank [0-9]+: .*process failed$)' "$own/errs" || true)
	case $code in
	0) wrong+=", code 0" ;;
	124 | 137) wrong+=", no end within $limit s" ;;
	esac
	is=$(grep -c . <<<"$causes" || true)
	[[ $is == "$lines" ]] || wrong+=", $is lines with a cause instead of $lines"
	[[ ! -s $own/out ]] || wrong+=", output: $(head -1 "$own/out")"
	until=$((SECONDS + 5)) # a process that was killed a moment ago may take some time to end
	while [[ -n $(left) ]] && ((SECONDS < until)); do sleep 0.1; done
	for pid in $(left); do
		wrong+=", process $pid is left"
		kill -KILL "$pid" 2>/dev/null || true
	done
	local verdict=right
	if grep -vE "$names" <<<"$causes" >/dev/null || grep -vE "$remedy" <<<"$causes" >/dev/null; then
		if [[ -n $known ]] && ! grep -vE "$known" <<<"$causes" >/dev/null; then
			verdict=poor
			poor=$((poor + 1))
		else
			wrong+=", a line without a name or a remedy"
		fi
	elif [[ -n $known ]]; then
		wrong+=", the lines are clear now: remove the pattern of this pair"
	fi
	if [[ -n $wrong ]]; then
		verdict="WRONG (${wrong#, })"
		failed=1
	fi
	echo "$verdict: $name: code $code"
	if [[ $verdict != right || -n ${SHOW:-} ]]; then sed 's/^/    /' "$own/errs" | cut -c 1-250; fi
}

# A rank of $base reports that the layouts differ, without its number.
layouts='^goulfm: init: shared memory layout [0-9]+ from the launcher, this program is built for layout 14: build both from one version of goulfm$'

for pair in "new old" "old new"; do
	read -r ours other <<<"$pair"
	odd=""
	run=("$own/$ours-goulfm" run)
	pair "launcher $ours, daemon $other, one node" 1 "$odd" "${run[@]}" --host 1 --ppn 2 --daemon-path "$own/$other-goulfm" -n 2 "$own/$ours-prog" ring
	pair "launcher $ours, daemons $other, two nodes" 1 "$odd" "${run[@]}" --host 2 --daemon-path "$own/$other-goulfm" -n 2 "$own/$ours-prog" ring
	pair "launcher $ours, two nodes, one daemon $other" 1 "$odd" \
		env ONCE="$own/once-$ours" FIRST="$own/$ours-goulfm" SECOND="$own/$other-goulfm" "${run[@]}" --host 2 --daemon-path "$own/second" -n 2 "$own/$ours-prog" ring

	[[ $other == new ]] || odd=$layouts
	pair "launcher $ours, all ranks $other, one node" 3 "$odd" "${run[@]}" -n 3 "$own/$other-prog" ring
	pair "launcher $ours, all ranks $other, two nodes" 4 "$odd" "${run[@]}" --host 2 --ppn 2 -n 4 "$own/$other-prog" ring
	for rank in 0 2; do
		one=(env RANK="$rank" OURS="$own/$ours-prog" OTHER="$own/$other-prog" "${run[@]}")
		pair "launcher $ours, rank $rank $other, one node" 1 "$odd" "${one[@]}" -n 3 "$own/byrank" ring
		pair "launcher $ours, rank $rank $other, two nodes" 1 "$odd" "${one[@]}" --host 2 --ppn 2 -n 4 "$own/byrank" ring
	done
done
((poor == 0)) || echo "mixed: $poor pairs end as they have to, with a text that lacks a name or a remedy"
exit "$failed"
