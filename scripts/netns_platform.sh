#!/bin/bash
# netns_platform.sh: a GridRPC platform on four machines, which are networks of their own (netns.sh): three masters, four
# agents, three processes of the platform's own store and four servers, on the machines in turn. Nothing but "up" is here.
# While long calls run, one at each server, the machine of the root is lost, with its agent, its server and its process of
# the store: another master is the root, the calls end with the right result, and new clients are served. Twice:
#
#   off   its power is off: it is gone from the network at once, with all that ran there; then "up" ends, told to
#   cut   it is cut off from the network, and runs on; then it is back, and is one of the platform again; then "up" is
#         killed, and all that it has started on the machines ends
#
#   scripts/netns_platform.sh [off | cut]    code 77: skipped, and why. SHOW=1 shows what was said
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${HOSTS:-}" ]; then # outside
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  export CGO_ENABLED=0 PLATFORM_DIR=$dir
  (cd gridrpc && go build -o "$dir/gridrpc" ./cmd/gridrpc && go build -o "$dir/dgemm" ./examples/dgemm)
  for how in ${1:-off cut}; do
    code=0
    scripts/netns.sh 4 scripts/netns_platform.sh "$how" || code=$?
    [ $code = 0 ] || exit $code
  done
  exit 0
fi

how=$1
dir=$PLATFORM_DIR/$how
mkdir "$dir"
export GRIDRPC_DIR=$dir/platform
grid=$PLATFORM_DIR/gridrpc
calls=4 times=${TIMES:-150}

now() { date +%s%3N; }
fail() {
  echo "WRONG: $how: $*"
  { "$grid" tree; "$grid" ls; } >"$dir/now" 2>&1 || true
  for told in up $(seq -f call%g $calls) now; do # what each has said last
    grep -v progress "$dir/$told" 2>/dev/null | cut -c 1-200 | tail -${SHOW_LINES:-60} | sed "s/^/    $told: /" || true
  done
  exit 1 # with this process ends all that runs here
}
# await SECONDS WHAT COMMAND...: until the command succeeds
await() {
  local end=$(($(now) + 1000 * $1)) what=$2; shift 2
  until "$@"; do
    (($(now) < end)) || fail "$what: not within $(((end - begun) / 1000)) s of the start"
    sleep 0.02
  done
}
# inside HOST: the processes that run on a machine, but for the one that is the machine, and those that look
inside() {
  "$RSH" "$1" 'me=$(readlink /proc/self/ns/net)
    for p in /proc/[0-9]*; do
      pid=${p#/proc/}
      [ "$(readlink $p/ns/net)" != "$me" ] || [ $pid = $$ ] || echo "$pid $(tr "\0" " " <$p/cmdline)"
    done' 2>/dev/null | grep -vE '^[0-9]+ (sleep infinity |tr .*)?$' || true # what has no words has ended
}
# power_off HOST: nobody there says goodbye
power_off() {
  "$LINK" down "$1"
  "$RSH" "$1" 'me=$(readlink /proc/self/ns/net)
    for p in /proc/[0-9]*; do
      pid=${p#/proc/}
      [ "$(readlink $p/ns/net)" != "$me" ] || [ $pid = $$ ] || pids="$pids $pid"
    done
    kill -9 $pids' 2>/dev/null || true
}
offers() { [ "$("$grid" ls 2>/dev/null | grep -c '^s.*dgemm')" -ge "$1" ]; }
roots() { grep -cE ': is the root, of term' "$dir/up" || true; }
root() { grep -oE '^ma[0-9]: is the root, of term' "$dir/up" | tail -1 | cut -d: -f1; }
another_root() { [ "$(roots)" -gt "$1" ]; }
served() { "$grid" call --timeout 5s --detect 1s dgemm '{"n":10}' >/dev/null 2>&1; }
host_of() { grep "^+.* $1 is process" "$dir/up" | tail -1 | sed 's/.* at //'; }
nothing_left() { for h in ${HOSTS//,/ }; do [ -z "$(inside "$h")" ] || return 1; done; }
have_checkpoints() { for i in $(seq $calls); do grep -q checkpoint "$dir/call$i" || return 1; done; }

begun=$(now)
"$grid" up --masters 3 --tree 4x1 --store jetstream --store-dir "$dir/disks" --detect 1s --hosts "$HOSTS" --rsh "$RSH" "$PLATFORM_DIR/dgemm" >"$dir/up" 2>&1 &
up=$!
await 90 "four servers" offers 4
was=$(now)
echo "$how: up after $((was - begun)) ms"
for h in ${HOSTS//,/ }; do [ "$(inside "$h" | grep -cE 'master|agent|store|dgemm')" -ge 2 ] || fail "not the processes of a platform on $h: $(inside "$h")"; done
# first: the result of a call that nobody disturbs. Masters that wait for cores may elect another root meanwhile, and who dials then
# gets an error, which is not what is tried here.
first() { "$grid" call --detect 1s dgemm "{\"n\":300,\"times\":$times}" >"$dir/first" 2>&1 || ! grep -q 'dial: no master' "$dir/first"; }
await 60 "a first call" first
sum=$(grep -o '"sum":[^,]*' "$dir/first") || fail "the first call has no result"
pids=()
begin() { # call I, as one that has found a master
  "$grid" call --watch --detect 1s dgemm "{\"n\":300,\"times\":$times}" >"$dir/call$1" 2>&1 &
  pids[$1 - 1]=$!
}
begun_all() {
  local i all=0
  for i in $(seq $calls); do
    grep -q submitted "$dir/call$i" && continue
    all=1
    ! grep -q 'dial: no master' "$dir/call$i" || { wait "${pids[i - 1]}" || begin "$i"; }
  done
  return $all
}
# runs_at HOST: whether a call that is not over is at a server there
runs_at() {
  local s
  s=$(grep "[+ ]s[0-9] is process .* at $1\$" "$dir/up" | grep -o 's[0-9] is' | head -1 | cut -d' ' -f1)
  for i in $(seq $calls); do
    [ "$(grep -o 'at s[0-9]*: began' "$dir/call$i" | tail -1)" != "at $s: began" ] || ! kill -0 "${pids[i - 1]}" 2>/dev/null || return 0
  done
  return 1
}
for i in $(seq $calls); do begin "$i"; done
await 60 "that the calls begin" begun_all
await 60 "a checkpoint of each call" have_checkpoints
until runs_at "$(host_of "$(root)")"; do # more, until one is on the machine that will be lost
  ((calls < 8)) || fail "of $calls calls none is at the server beside the root"
  calls=$((calls + 1))
  begin "$calls"
  await 60 "that another call begins" begun_all
  await 60 "a checkpoint of it" have_checkpoints
done
old=$(root) host=$(host_of "$(root)") reigns=$(roots)
on=$(grep " at $host\$" "$dir/up" | sed 's/^[^ ]* \([^ ]*\) is.*/\1/' | sort -u | xargs)
lost=$(now)
case $how in
off) power_off "$host" 2>/dev/null ;;
cut) "$LINK" down "$host" ;;
esac
await 20 "another root" another_root "$reigns"
crowned=$(now)
await 30 "a server that a new client finds" offers 1
found=$(now)
await 30 "a new client" served
echo "$how: $host lost, with $on: $(root) is the root after $((crowned - lost)) ms, a new client finds servers after $((found - lost)) ms, and is served after $(($(now) - lost)) ms"
[ "$(root)" != "$old" ] || fail "$old is the root still"
await 60 "three servers below the new root" offers 3
for i in $(seq $calls); do
  wait "${pids[i - 1]}" || fail "call $i failed"
  [ "$(grep -o '"sum":[^,]*' "$dir/call$i")" = "$sum" ] || fail "call $i has another result: $(tail -1 "$dir/call$i"), want $sum"
done
ended=$(now)
moved=$({ grep -l 'attempt 2' "$dir"/call* || true; } | wc -l)
((moved > 0)) || fail "no call has lost its server, though one was on $host"
echo "$how: $calls calls had ended with the right result after $((ended - lost)) ms; $moved had lost their server: $(grep -h 'server lost' "$dir"/call* | sed 's/.* at \(s[0-9]*: .*\)/\1/' | sort -u | paste -sd';')"
if [ "$how" = cut ]; then
  "$LINK" up "$host"
  back=$(now)
  await 60 "the fourth server" offers 4
  echo "cut: $host is back: all four servers known after $(($(now) - back)) ms"
  kill -KILL $up
else
  kill -INT $up
fi
over=$(now)
code=0
wait $up || code=$?
[ "$how" = cut ] || [ $code = 0 ] || fail "the platform ended with code $code"
[ "$how" = cut ] || HOSTS=$(tr , '\n' <<<"$HOSTS" | grep -vxF "$host" | paste -sd,)
await 20 "the end of what \"up\" has started: $(for h in ${HOSTS//,/ }; do inside "$h"; done | head -5)" nothing_left
echo "$how: nothing of the platform is left on the machines $(($(now) - over)) ms after the end of \"up\""
[ -z "${SHOW:-}" ] || cut -c 1-160 "$dir/up"
