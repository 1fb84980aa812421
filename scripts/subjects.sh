#!/bin/sh
# Checks the subjects of commits: "package: imperative verb and object", at most 72 columns,
# without who and what.
#
#   scripts/subjects.sh               every commit since the revision in .githooks/base
#   scripts/subjects.sh message FILE  the message of one commit, for .githooks/commit-msg
set -eu

# complain SUBJECT prints each fault of a subject. It fails if there is one.
complain() {
	printf '%s\n' "$1" | awk '
	function fault(text) { printf "commit subject %s: %s\n", "\"" $0 "\"", text; bad = 1 }
	/^(Merge|Revert|fixup!|squash!|amend!) / { exit }
	/^release [0-9]+\.[0-9]+\.[0-9]+$/ { exit }
	length($0) > 72 { fault(length($0) " columns instead of at most 72") }
	!/^[a-z0-9._\/-]+(, [a-z0-9._\/-]+)*: [a-z]/ { fault("write \"package: imperative verb and object\""); exit }
	/\.$/ { fault("remove the full stop") }
	tolower($0) ~ /(^|[^a-z])(who|whom|whose|whoever|what|whatever)([^a-z]|$)/ { fault("name the subject instead of who or what") }
	{
		verb = $0
		sub(/^[^:]*: /, "", verb)
		sub(/ .*/, "", verb)
		if (verb ~ /^(a|an|the|this|that|these|those|it|its|one|some|all|each|no|not|of|in|on|at|for|is|are|there|adds|makes|fixes|uses|removes|lets|gives)$/ ||
			verb ~ /...(ed|ing)$/ && verb !~ /^(embed|exceed|proceed|speed|bring|string|ping)$/)
			fault("begin with an imperative verb instead of \"" verb "\"")
	}
	END { exit bad }' >&2
}

if [ "${1:-}" = message ]; then
	# The subject is the first line that is neither empty nor a comment of the editor.
	complain "$(grep -v -e '^#' -e '^[[:space:]]*$' "$2" | head -n 1)"
	exit
fi

cd "$(dirname "$0")/.."
base=$(cat .githooks/base)
if ! git merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
	echo "subjects of commits are not checked: this checkout lacks revision $base" >&2
	exit 0
fi
subjects=$(mktemp)
trap 'rm -f "$subjects"' EXIT
git log --no-merges --format=%s "$base..HEAD" >"$subjects"
bad=0
while IFS= read -r subject; do
	complain "$subject" || bad=1
done <"$subjects"
exit $bad
