#!/bin/bash
# nodes.sh: jobs on several nodes by real ssh. Some addresses of this machine's loopback are the hosts, each with an
# sshd of its own and keys made for this; nodes are killed, and what can be wrong with a host is tried.
#
#   scripts/nodes.sh          all cases; code 77: skipped, and why. SHOW=1 shows what each has said
#
# It needs an OpenSSH server (no service of it has to run). Without root the cases that need another
# file system or network for a host are left out. Nothing outside of a temporary folder is written or left.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "nodes: skipped: $*"; exit 77; }
[ "$(uname -s)" = Linux ] || skip "needs Linux"
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || skip "no sshd here (openssh-server)"
for tool in ssh ssh-keygen pgrep go; do command -v $tool >/dev/null || skip "$tool is not installed"; done
root=; [ "$(id -u)" != 0 ] || root=1

dir=$(mktemp -d) # part of the command line of all that runs here
servers=()
clean() {
  kill "${servers[@]}" 2>/dev/null || true
  wait "${servers[@]}" 2>/dev/null || true
  [ ! -d "$dir/small" ] || umount "$dir/small" 2>/dev/null || true
  [ -z "${made_sshd:-}" ] || rmdir /run/sshd 2>/dev/null || true
  rm -rf "$dir"
}
trap clean EXIT
[ -z "$root" ] || [ -d /run/sshd ] || { mkdir -p -m 755 /run/sshd; made_sshd=1; } # sshd of root wants it
within() { local i; for ((i = 0; i < 200; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }

# --- hosts ---------------------------------------------------------------------------------------
port=$((21000 + $$ % 10000))
mkdir "$dir/bin" "$dir/there"
ssh-keygen -q -t ed25519 -N '' -f "$dir/user"
ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
ssh-keygen -q -t ed25519 -N '' -f "$dir/stranger"
cat >"$dir/config" <<END
Port $port
IdentityFile $dir/user
IdentitiesOnly yes
UserKnownHostsFile $dir/known
GlobalKnownHostsFile /dev/null
END
# The launcher finds this ssh first: the machine's own, with those keys and that port.
printf '#!/bin/sh\nexec %s -F %s/config "$@"\n' "$(command -v ssh)" "$dir" >"$dir/bin/ssh"
chmod 755 "$dir/bin/ssh"
PATH=$dir/bin:$PATH
# host ADDRESS KEY [CMD...]: an sshd at that address, with that key, below CMD.
host() {
  local address=$1 key=$2; shift 2
  cat >"$dir/sshd.$address" <<END
ListenAddress $address
Port $port
HostKey $key
AuthorizedKeysFile $dir/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
END
  "$@" "$sshd" -D -e -f "$dir/sshd.$address" </dev/null >"$dir/log.$address" 2>&1 &
  servers+=($!)
  within bash -c "exec 3<>/dev/tcp/$address/$port" || skip "sshd does not start: $(tail -1 "$dir/log.$address")"
}
for address in 127.0.0.2 127.0.0.3; do
  host $address "$dir/host"
  echo "[$address]:$port $(cut -d' ' -f1,2 "$dir/host.pub")" >>"$dir/known"
done
host 127.0.0.4 "$dir/stranger" # nobody knows its key
ssh -o BatchMode=yes 127.0.0.2 true 2>"$dir/err" || skip "ssh to this machine does not work: $(tail -1 "$dir/err")"

# --- programs --------------------------------------------------------------------------------------
export CGO_ENABLED=0
v=$(go env GOVERSION)
go build -o "$dir/goulfm" ./cmd/goulfm
LC_ALL=C sed "s/$v/${v%?}X/g" "$dir/goulfm" >"$dir/other"; chmod 755 "$dir/other" # says that it is of another version of Go
GOARCH=arm64 go build -o "$dir/arm64" ./cmd/goulfm
[ "$(uname -m)" != aarch64 ] || GOARCH=amd64 go build -o "$dir/arm64" ./cmd/goulfm
go build -o "$dir/there/heat" ./examples/byhand/heat
heat="$dir/there/heat -steps 100000 -print 100"
right=$("$dir/goulfm" run -q -n 4 $heat | grep '^result')
both="--launcher ssh --host 127.0.0.2:2,127.0.0.3:2"

# --- cases -----------------------------------------------------------------------------------------
bad=0
nothing_left() { ! pgrep -f "$dir/(goulfm|other|arm64|there)" >/dev/null; }
# verdict NAME CODE WANTED-CODE RESULTS PATTERN: what is in out and err counts. A launch that fails says one line.
verdict() {
  local why= results
  results=$(grep -cF "$right" "$dir/out" || true)
  [ "$2" = "$3" ] || why="; exit code $2, not $3"
  [ "$results" = "$4" ] || why="$why; $results right results, not $4"
  grep -qE "$5" "$dir/out" "$dir/err" || why="$why; no line $5"
  [ "$3" != 3 ] || [ "$(wc -l <"$dir/err")" = 1 ] || why="$why; not one line"
  within nothing_left || why="$why; left: $(pgrep -af "$dir/(goulfm|other|arm64|there)" | tr '\n' ' ')"
  if [ -z "$why" ]; then echo "ok      $1"; [ -z "${SHOW:-}" ] || cat "$dir/err"; else echo "FAILED  $1: ${why#; }"; sed 's/^/        /' "$dir/err" "$dir/out" | tail -20; bad=1; fi
}
# run NAME CODE RESULTS PATTERN FLAGS... -- PROGRAM...
run() {
  local n=$1 c=$2 r=$3 p=$4 code=0; shift 4
  timeout 60 "$dir/goulfm" run "$@" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
  verdict "$n" $code "$c" "$r" "$p"
}
# started: a job in the background that has computed some steps, as $job.
started() {
  : >"$dir/out"
  timeout 60 "$dir/goulfm" run "$@" $heat -nx 600 -ny 600 -tol 0 -steps 3000 >"$dir/out" 2>"$dir/err" </dev/null &
  job=$!
  within grep -q '^step 100 ' "$dir/out" || true # the verdict tells what came instead
}
small=$right
big=$("$dir/goulfm" run -q -n 4 $heat -nx 600 -ny 600 -tol 0 -steps 3000 | grep '^result')
# below PID...: all processes below those.
below() { local p; for p in "$@"; do echo "$p"; below $(pgrep -P "$p"); done; }
# daemon_of INDEX: the daemon that the sshd of that index has started.
daemon_of() { local p; for p in $(below "${servers[$1]}"); do [ "$(cat /proc/$p/comm 2>/dev/null)" != goulfm ] || echo "$p"; done; }

run "two hosts, two ranks each" 0 1 '^result' $both $heat
run "a Go package: it is built here, and sent" 0 1 '^result' $both ./examples/byhand/heat -steps 100000 -print 100
run "--hostfile" 0 1 '^result' --launcher ssh --hostfile <(printf '127.0.0.2 slots=2\n127.0.0.3:2 # the other\n') $heat
right=$big
run "--kill node1: survived" 0 1 'node 1 \(127.0.0.3\) is lost' $both --kill node1@300ms $heat -nx 600 -ny 600 -tol 0 -steps 3000
started $both; code=0
kill -9 "$(daemon_of 1)"; { wait $job; } 2>"$dir/null" || code=$?
verdict "kill -9 of a host's daemon: survived" $code 0 1 'node 1 \(127.0.0.3\) is lost'
started $both; code=0
for p in $(below "${servers[1]}"); do case $(cat /proc/$p/comm 2>/dev/null) in sshd*) [ $p = "${servers[1]}" ] || kill -9 "$p" ;; esac; done
{ wait $job; } 2>"$dir/null" || code=$?
verdict "kill -9 of a host's ssh session: nobody needs it" $code 0 1 '^result'
started $both; code=0
kill -9 "$(pgrep -P $job)"; { wait $job; } 2>"$dir/null" || code=$?
verdict "kill -9 of the launcher: nothing is left" $code 137 0 '^step 100'
right=$small

not() { local n=$1 p=$2; shift 2; run "$n" 3 0 "$p" "$@" $heat; }
not "unknown host" 'node 1 \(nosuch.invalid\): .*resolve hostname.*: is the name right' --host 127.0.0.2,nosuch.invalid
not "closed port" 'node 1 \(127.0.0.9\): .*refused: does sshd run there' --launcher ssh --host 127.0.0.2,127.0.0.9
not "a host whose key nobody knows" 'node 1 \(127.0.0.4\): .*Host key verification failed: log in there once' --launcher ssh --host 127.0.0.2,127.0.0.4
not "a user who may not log in" 'node 0 \(127.0.0.2\): .*Permission denied.*: ssh must not need a question' --launcher ssh --host nobody@127.0.0.2
not "no goulfm there" 'node . \(127.0.0..\): .*/no/goulfm.*: install goulfm there' $both --daemon-path /no/goulfm
not "a file that is no program" 'node . \(127.0.0..\): .*ermission denied: may that user execute' $both --daemon-path "$dir/user.pub"
not "goulfm for another kind of machine" 'node . \(127.0.0..\): .*: goulfm there is built for another kind of machine' $both --daemon-path "$dir/arm64"
not "goulfm of another version" 'node . \(127.0.0..\) has goulfm .*, and this is goulfm .*: install the same version there' $both --daemon-path "$dir/other"
printf '#!/bin/sh\nread -r line; printf "%%s\\n" "$line" | sed "s/\\"secret\\":\\"....../\\"secret\\":\\"AAAAAA/" | ssh "$@"\n' >"$dir/bin/garble"; chmod 755 "$dir/bin/garble"
not "another secret" 'node . \(127.0.0..\): .*does not reach the launcher.*: what answers is not the launcher' --rsh garble --host 127.0.0.2,127.0.0.3
printf '#!/bin/sh\nsleep 9\n' >"$dir/bin/slow"; chmod 755 "$dir/bin/slow"
not "a host that does not answer" 'no answer from node 0 \(127.0.0.2\), node 1 \(127.0.0.3\) within 1s: is goulfm installed there' --rsh slow --start-timeout 1s --host 127.0.0.2,127.0.0.3
if [ -n "$root" ]; then
  printf '#!/bin/sh\nshift\nexec unshare -n sh -c "$*"\n' >"$dir/bin/far"; chmod 755 "$dir/bin/far"
  not "a host that does not reach this machine" 'node . \(far.\): .*does not reach the launcher.*: a firewall' --rsh far --host far1,far2
  host 127.0.0.5 "$dir/host" unshare --mount sh -c 'mount -t tmpfs none "$0/there" && exec "$@"' "$dir"
  echo "[127.0.0.5]:$port $(cut -d' ' -f1,2 "$dir/host.pub")" >>"$dir/known"
  run "no program there: it is sent" 0 1 '^result' --launcher ssh --host 127.0.0.2:2,127.0.0.5:2 $heat
  printf '#!/bin/sh\nexec %s "$@"\n' "$dir/there/heat" >"$dir/there/script"; chmod 755 "$dir/there/script"
  run "no script there" 3 0 'node 1 \(127.0.0.5\): .*no such file or directory: the program has to be there' --launcher ssh --host 127.0.0.2,127.0.0.5 "$dir/there/script"
  mkdir "$dir/small"
  mount -t tmpfs -o size=64k none "$dir/small"
  run "a full disk" 6 0 'no space left' $both --output-dir "$dir/small" sh -c "head -c 200000 /dev/zero | tr '\\0' x"
else
  echo "skipped 4 cases that need root"
fi
exit $bad
