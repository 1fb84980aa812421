#!/bin/bash
# engines.sh: our programs under real job engines, Slurm and Open MPI, on one node.
#
#   scripts/engines.sh          sets up what is missing, runs all cases, ends what it has started
#   scripts/engines.sh remove   removes the folder
#
# The engines are Debian packages in a folder of their own (ENGINES, 1 GB); slurmctld, slurmd and
# munged run in namespaces of their own, with a network of their own that leads nowhere, and end with this script.
# Of the machine itself nothing changes but that debootstrap must be there. Needs root. Code 77:
# skipped, and why. The first time takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${ENGINES:-$HOME/.cache/goulfm-engines-one}
skip() { echo "engines: skipped: $*"; exit 77; }
[ "$(uname -s)" = Linux ] || skip "needs Linux"
[ "$(id -u)" = 0 ] || skip "needs root, for namespaces"
if [ "${1:-}" = remove ]; then rm -rf --one-file-system "$root" "$root.log" "$root.slurmctld.log"; exit; fi
for tool in debootstrap unshare nsenter setpriv ip pgrep go; do command -v $tool >/dev/null || skip "$tool is not installed"; done
unshare --net --pid --fork --mount true 2>/dev/null || skip "no namespaces here"

# --- the engines -----------------------------------------------------------------------------
# inside CMD...: as root in the folder, with mounts that nobody else sees.
inside() {
  unshare --mount --pid --fork --kill-child bash -c 'root=$1; shift
    mount --make-rprivate /; mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
    exec chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"' inside "$root" "$@"
}
if [ ! -e "$root/ready" ]; then
  mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\(http[^ ]*\).*/\2/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1 || true)
  mkdir -p "$root"
  [ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase trixie "$root" ${mirror:-} >"$root.log" 2>&1 || skip "debootstrap fails, see $root.log"
  cp -f /etc/resolv.conf "$root/etc/resolv.conf"
  for f in /etc/apt/apt.conf.d/*; do ! grep -qsiE 'proxy|Acquire::' "$f" || cp -f "$f" "$root/etc/apt/apt.conf.d/"; done
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"; chmod +x "$root/usr/sbin/policy-rc.d"   # no service starts
  { inside apt-get update -q && inside apt-get install -y -q --no-install-recommends \
    slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge openmpi-bin procps; } >>"$root.log" 2>&1 || skip "apt-get fails, see $root.log"
  inside sh -c 'id sci >/dev/null 2>&1 || useradd -u 2000 -m -s /bin/bash sci'
  touch "$root/ready"
fi

# --- a node: namespaces that end with their first process, and that with this script -----------
work=$(mktemp -d)
unshare --net --pid --fork --uts --ipc --mount --kill-child bash -c 'root=$1
  mount --make-rprivate /; mount --rbind "$root" "$root"; hostname n1; ip link set lo up
  ip link add e0 type veth peer name e1; ip link set e1 up; ip link set e0 up; ip addr add 10.78.0.1/24 dev e0 # slurmctld wants an address that is not loopback
  mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 shm "$root/dev/shm"; mount -t tmpfs -o mode=1777 tmp "$root/tmp"
  exec chroot "$root" /bin/bash -c "sleep infinity & wait"' node "$root" </dev/null >/dev/null 2>&1 &
outer=$!
disown
node=
trap 'kill -9 $node $outer 2>/dev/null || true; rm -rf "$work"' EXIT # of the node all, with its first process
within() { local i; for ((i = 0; i < 200; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
until_ok() { within "$@" || skip "not within 20 s: $*"; }
until_ok pgrep -P $outer
node=$(pgrep -P $outer)
until_ok nsenter -t "$node" -m -u -i -n -p -r -w -- test -e /ready # it has changed its root
on() { nsenter -t "$node" -m -u -i -n -p -r -w -- "$@"; }
user() { on env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/sci USER=sci setpriv --reuid sci --regid sci --init-groups sh -c 'cd "$HOME" && exec "$@"' sh "$@"; }
printf '127.0.0.1 localhost\n10.78.0.1 n1\n' >"$root/etc/hosts"
mkdir -p "$root/etc/slurm"
echo 'CgroupPlugin=disabled' >"$root/etc/slurm/cgroup.conf"
cat >"$root/etc/slurm/slurm.conf" <<END
ClusterName=one
SlurmctldHost=n1(10.78.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
NodeName=n1 NodeAddr=10.78.0.1 CPUs=8 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
rm -rf "$root/var/spool/slurmctld" "$root/var/spool/slurmd"
mkdir -p "$root/var/spool/slurmctld" "$root/var/spool/slurmd" "$root/run/munge"
on chown munge:munge /run/munge
on setpriv --reuid munge --regid munge --clear-groups munged --force --socket=/run/munge/munge.socket.2 >/dev/null 2>&1
until_ok on munge -n
on setsid slurmctld -D </dev/null >"$root.slurmctld.log" 2>&1 &
disown
until_ok on scontrol ping
on setsid slurmd -D -N n1 </dev/null >/dev/null 2>&1 &
disown
until_ok sh -c "nsenter -t $node -m -u -i -n -p -r -w -- sinfo -h -t idle -o %N | grep n1"
echo "engines: $(on sinfo -V), $(on mpirun --version | head -1)"

# --- cases -------------------------------------------------------------------------------------
CGO_ENABLED=0 go build -o "$work/goulfm" ./cmd/goulfm
CGO_ENABLED=0 go build -o "$work/heat" ./examples/heat
install -m 755 "$work/heat" "$root/home/sci/heat"
heat="./heat -nx 600 -ny 600 -tol 0 -steps 3000 -print 100"
right=$("$work/goulfm" run -q -n 4 "$work/heat" ${heat#./heat} | grep '^result')
bad=0
# verdict NAME CODE WANTED-CODE RESULTS PATTERN: what is in $work/out counts.
verdict() {
  local why=
  [ "$2" = "$3" ] || why="exit code $2, not $3"
  [ "$(grep -cF "$right" "$work/out")" = "$4" ] || why="$why; $(grep -cF "$right" "$work/out") right results, not $4"
  grep -qE "$5" "$work/out" || why="$why; no line $5"
  ! on pgrep -x goulfm-daemon >/dev/null || why="$why; a daemon is left"
  if [ -z "$why" ]; then echo "ok      $1"; else echo "FAILED  $1: $why"; sed 's/^/        /' "$work/out" | tail -20; bad=1; fi
}
# run NAME CODE RESULTS PATTERN CMD...
run() {
  local n=$1 c=$2 r=$3 p=$4 code=0
  shift 4
  user timeout 120 "$@" >"$work/out" 2>&1 || code=$?
  verdict "$n" $code "$c" "$r" "$p"
}
# killed NAME CODE RANK CMD...: kills that rank once the program is under way.
killed() {
  local n=$1 c=$2 rank=$3 code=0 pid; shift 3
  : >"$work/out"
  user timeout 120 "$@" $heat -pids >"$work/out" 2>&1 &
  local job=$!
  within grep -q '^step 100 ' "$work/out" || true # the verdict tells what came instead
  pid=$(sed -n "s/^rank $rank: kill -9 //p" "$work/out")
  [ -z "$pid" ] || on kill -9 "$pid"
  wait $job || code=$?
  verdict "$n" $code "$c" 1 "repair: 4 -> 3 ranks, lost \[$rank\]"
}
run "srun -n 4: one world" 0 1 '^world: 4 ranks on 1 node by Slurm step' srun -n 4 $heat
run "srun --mpi=pmi2" 0 1 '^world: 4 ranks' srun --mpi=pmi2 -n 4 $heat
run "GOULFM_ALONE=1: worlds of one" 0 2 '^result' srun -n 2 env GOULFM_ALONE=1 $heat
run "two programs in a step" 0 2 '^world: 2 ranks' srun -n 2 sh -c "$heat; $heat"
run "salloc, srun" 0 1 '^world: 3 ranks on 1 node by Slurm' salloc -n 3 srun $heat
run "salloc, no srun" 0 1 '^result' salloc -n 3 $heat
run "a rank is missing" 3 0 '3 of 4 ranks after 1s; missing on n1: 2 ' env GOULFM_START_TIMEOUT=1s srun -n 4 sh -c '[ $SLURM_PROCID = 2 ] || exec ./heat'
killed "srun --no-kill, rank 2 killed" 137 2 srun --no-kill -n 4
killed "srun, rank 0 killed" 137 0 srun -n 4
mpirun="mpirun --oversubscribe --bind-to none"
run "mpirun -n 4: one world" 0 1 '^world: 4 ranks on 1 node by Open MPI' $mpirun -n 4 $heat
killed "mpirun --enable-recovery, rank 1 killed" 0 1 $mpirun --enable-recovery -n 4
run "mpirun in salloc" 0 1 '^world: 4 ranks on 1 node by Open MPI' salloc -n 2 $mpirun -n 4 $heat
exit $bad
