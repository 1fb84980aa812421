#!/bin/bash
# netns_jobs.sh: jobs over networks of their own (netns.sh), with addresses that are not this machine's, so over TLS:
# a node killed, packets lost, roads closed in one direction, a node cut off for good. The result has to be that of one node.
#
#   scripts/netns_jobs.sh     all cases; code 77: skipped, and why. SHOW=1 shows what each has said
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0
go build -o "$dir/goulfm" ./cmd/goulfm
go build -o "$dir/heat" ./examples/heat
go build -o "$dir/prog" ./cmd/goulfm/testdata/prog

run="$dir/goulfm run --ppn 2 --timeout 120s"
over="$run --host \$HOSTS --rsh \$RSH --iface \$HERE --daemon-path $dir/goulfm"
failed=0
# job NAME SAYS NETNS-ARGUMENTS... -- COMMAND: its result, code 0, and that its event log says something.
job() {
  local name=$1 says=$2 code=0 start=$SECONDS; shift 2
  local net=()
  while [ "$1" != -- ]; do net+=("$1"); shift; done
  shift
  scripts/netns.sh "${net[@]}" sh -c "$1" >"$dir/out" 2>"$dir/errs" </dev/null || code=$?
  [ $code != 77 ] || { cat "$dir/errs"; echo "skipped: $name"; skipped=1; return 0; }
  local bad=
  [ $code = 0 ] || bad="code $code"
  [ "$(tail -1 "$dir/out")" = "$want" ] || bad="$bad, result $(tail -1 "$dir/out")"
  grep -qE "$says" "$dir/errs" "$dir/out" || bad="$bad, nothing says: $says"
  echo "${bad:+WRONG: }$name: $((SECONDS - start)) s${bad:+: $bad}"
  if [ -n "$bad" ] || [ -n "${SHOW:-}" ]; then sed 's/^/    /' "$dir/errs" | cut -c 1-250; fi
  [ -z "$bad" ] || failed=1
}

heat="$dir/heat -steps 150 -print 0"
want=$($dir/goulfm run -q -n 8 $heat)
job "4 nodes, 2 ranks each" 'result' 4 -- "$over $heat"
job "a node is killed" 'node 2 .* is lost|2 ranks lost' 4 -- "$over --kill node2@0s $heat"
job "5 of 100 packets are lost, and a node is killed" '2 ranks lost' --loss 5 4 -- "$over --kill node2@1s $heat"
for shut in 0:1 1:0 0:1:reject 1:0:reject; do
  job "node ${shut%%:*} cannot dial node ${shut:2:1} ($shut)" 'result' --no-dial $shut 4 -- "$over $heat"
done
job "of 4 nodes half of the roads are closed" 'result' --no-dial 0:1 --no-dial 2:0 --no-dial 1:2:reject --no-dial 3:1 --no-dial 2:3 4 -- "$over $heat"
pair=${over/--ppn 2/--ppn 1}
for shut in 0:1 1:0; do
  want='counted 40'
  job "windows, $shut shut" 'counted' --no-dial $shut 2 -- "$pair $dir/prog lock-beside"
  want=spawned
  job "spawn, $shut shut" '^new 1 of 2 beside 4' --no-dial $shut 2 -- "$over --universe 8 $dir/prog spawn && echo spawned"
done
heat="$dir/heat -steps 150 -print 0"
want=told
job "neither can dial: the line comes before the time is out" 'node 0 does not reach node 1 at 10.77.1.2:[0-9]+: no answer' \
  --no-dial 0:1 --no-dial 1:0:reject 2 -- "! ${pair/120s/6s} $heat && echo told"
heat="$dir/heat -steps 150 -print 0"
want=$($dir/goulfm run -q -n 3 $heat)
job "neither can dial for longer than --link-timeout: one of the two nodes is declared" 'node 1 \(.*\) is lost: it and node 0 .* cannot reach each other' \
  --no-dial 0:1 --no-dial 1:0:reject 3 -- "$pair --link-timeout 2s --kill-must $heat"
# Every connection of a job is reset, at both ends: of the launcher, of daemons, of ranks. RESETS: how often.
cat >"$dir/reset" <<'END'
resets() {
  for i in $(seq "$1"); do
    sleep 0.2
    ss --kill dst 10.77.0.0/16
    for host in $(echo "$HOSTS" | tr , ' '); do $RSH "$host" ss --kill dst 10.77.0.0/16; done
  done >/dev/null 2>&1
}
END
heat="$dir/heat -nx 200 -ny 200 -tol 0 -steps $((3000 + (${RESETS:-10} - 10) * 300)) -every 50 -print 0" # longer than the resets last
want=$($dir/goulfm run -q -n 8 $heat)
if scripts/netns.sh 1 ss --kill dst 10.77.0.0/16 >/dev/null 2>&1; then
  for secure in tls auth; do
    job "all connections are reset again and again, $secure" '8 of 8 ranks finished|^result' 4 -- \
      ". $dir/reset; (sleep 0.3; resets ${RESETS:-10}) & ${over/120s/900s} --secure $secure $heat 2>$dir/said; code=\$?; cat $dir/said >&2; ! grep 'is lost' $dir/said && exit \$code"
  done
else
  echo "skipped: resets: ss cannot end connections here"
fi
heat="$dir/heat -nx 600 -ny 600 -steps 3000 -every 50 -print 0"
want=$($dir/goulfm run -q -n 8 $heat)
job "a node is cut off for good" '2 ranks lost' 4 -- "(sleep 1; \$LINK down 10.77.1.3) & $over $heat"
[ -z "${skipped:-}" ] || { [ $failed != 0 ] || exit 77; }
exit $failed
