#!/bin/bash
# netns_calls.sh: a GridRPC platform on three machines, which are networks of their own (netns.sh): masters and agents on
# one, a server on each of two others. The machine of a call's server is cut off; the call goes on at the other one, from a
# checkpoint, and has the same result.
#
#   scripts/netns_calls.sh    code 77: skipped, and why. SHOW=1 shows what was said
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${HOSTS:-}" ]; then # outside
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  export CGO_ENABLED=0 CALLS_DIR=$dir
  (cd gridrpc && go build -o "$dir/gridrpc" ./cmd/gridrpc && go build -o "$dir/dgemm" ./examples/dgemm)
  code=0
  scripts/netns.sh 2 scripts/netns_calls.sh || code=$?
  exit $code
fi

dir=$CALLS_DIR
export GRIDRPC_DIR=$dir/platform
grid=$dir/gridrpc
"$grid" up --tree 1x2 --hosts "$HOSTS" --rsh "$RSH" "$dir/dgemm" >"$dir/up" 2>&1 &
up=$!
fail() { echo "WRONG: $*"; sed 's/^/    /' "$dir/up" "$dir/call" 2>/dev/null | cut -c 1-200 | grep -v progress | tail -40; kill -INT $up; wait $up; exit 1; }
start=$SECONDS
until [ "$("$grid" ls 2>/dev/null | grep -c '^s.*dgemm')" = 2 ]; do
  ((SECONDS < start + 60)) || fail "two servers did not come within 60 s"
  sleep 0.1
done
"$grid" call --watch --detect 1s dgemm '{"n":300,"times":200}' >"$dir/first" 2>&1
sum=$(grep -o '"sum":[^,]*' "$dir/first")
"$grid" call --watch --detect 1s dgemm '{"n":300,"times":200}' >"$dir/call" 2>&1 &
call=$!
until grep -q checkpoint "$dir/call"; do
  kill -0 $call 2>/dev/null || fail "the call was over before it had a checkpoint"
  sleep 0.02
done
server=$(grep -o 'at s[0-9]*: checkpoint' "$dir/call" | head -1 | grep -o 's[0-9]*' | head -1)
host=$(grep "$server is process" "$dir/up" | sed 's/.* at //')
$LINK down "$host"
wait $call || fail "the call failed"
grep -q "at $server: server lost" "$dir/call" || fail "nobody has lost $server, whose machine was cut off"
grep -q 'attempt 2 at s[0-9]*: submitted from checkpoint' "$dir/call" || fail "the call did not go on from a checkpoint"
[ "$(grep -o '"sum":[^,]*' "$dir/call")" = "$sum" ] || fail "another result: $(tail -1 "$dir/call"), want $sum"
[ -n "$sum" ] || fail "the first call has no result"
[ -z "${SHOW:-}" ] || grep -v progress "$dir/call" | cut -c 1-160
kill -INT $up
wait $up || fail "the platform ended with code $?"
echo "calls: $server at $host cut off, the call went on from its checkpoint: $((SECONDS - start)) s"
