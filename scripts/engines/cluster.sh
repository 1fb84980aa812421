# cluster.sh is sourced by the scripts beside it: a cluster on one machine, of namespaces.
#
#   engines_install            the engines, Debian packages, into a folder of their own (ENGINES, 1.5 GB)
#   nodes_up N                 a head and N nodes n1 ...: own network, processes, host name, /dev/shm, /tmp; /home is shared
#   on NODE CMD...             runs CMD there as root (NODE: head, n1, ...)
#   user NODE CMD...           as user sci, with a clean environment
#   power_off NODE             all its processes end at once, and its network first: nobody hears a last word
#   slurm_up N [CPUS]          slurmctld on the head, slurmd on the nodes, munge
#   ssh_up                     sshd on all, with keys made for this
#
# All that runs is a child of the script that sources this, and ends with it, however it ends: the
# kernel ends a namespace with its first process, and that with its parent. Of the machine itself nothing changes.
root=${ENGINES:-$HOME/.cache/goulfm-engines-one}
net=10.78.0
work=
skip() { echo "engines: skipped: $*"; exit 77; }
within() { local i; for ((i = 0; i < 200; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
until_ok() { within "$@" || skip "not within 20 s: $*"; }

# engines_check: what is needed of the machine.
engines_check() {
  local tool
  [ "$(uname -s)" = Linux ] || skip "needs Linux"
  [ "$(id -u)" = 0 ] || skip "needs root, for namespaces"
  for tool in debootstrap unshare nsenter setpriv ip pgrep flock go; do command -v $tool >/dev/null || skip "$tool is not installed"; done
  unshare --net --pid --fork --mount true 2>/dev/null || skip "no namespaces here"
  exec 9>/run/lock/goulfm-engines.lock
  flock -n 9 || { echo "engines: another run has the cluster, waiting"; flock 9; }
}

# inside CMD...: as root in the folder, with mounts that nobody else sees.
inside() {
  unshare --mount --pid --fork --kill-child bash -c 'root=$1; shift
    mount --make-rprivate /; mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
    exec chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"' inside "$root" "$@"
}

packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge mpich openmpi-bin openssh-server openssh-client procps iproute2"
engines_install() {
  [ "$(cat "$root/ready" 2>/dev/null)" != "$packages" ] || return 0
  local mirror f
  mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\(http[^ ]*\).*/\2/p' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1 || true)
  mkdir -p "$root"
  [ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase trixie "$root" ${mirror:-} >"$root.log" 2>&1 || skip "debootstrap fails, see $root.log"
  cp -f /etc/resolv.conf "$root/etc/resolv.conf"
  for f in /etc/apt/apt.conf.d/*; do ! grep -qsiE 'proxy|Acquire::' "$f" || cp -f "$f" "$root/etc/apt/apt.conf.d/"; done
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"; chmod +x "$root/usr/sbin/policy-rc.d"   # no service starts
  { inside apt-get update -q && inside apt-get install -y -q --no-install-recommends $packages; } >>"$root.log" 2>&1 || skip "apt-get fails, see $root.log"
  inside sh -c 'id sci >/dev/null 2>&1 || useradd -u 2000 -m -s /bin/bash sci; usermod -p "*" sci'  # a key may log in, no password
  echo "$packages" >"$root/ready"
}

# child CMD...: in the background, and ended by the kernel when this script has.
child() { setpriv --pdeathsig KILL "$@" </dev/null >/dev/null 2>&1 9>&- & }

declare -A pid_of # of the first process of each node
nodes_up() {
  local i
  work=$(mktemp -d)
  trap nodes_down EXIT
  child unshare --net sleep infinity
  switch=$!
  until_ok sh -c "[ \$(readlink /proc/$switch/ns/net) != $(readlink /proc/self/ns/net) ]"
  disown $switch
  nsenter -t $switch -n ip link add br0 type bridge
  nsenter -t $switch -n ip link set br0 up
  { echo "127.0.0.1 localhost"; echo "$net.254 head"; for ((i = 1; i <= $1; i++)); do echo "$net.$i n$i"; done; } >"$root/etc/hosts"
  node_up head 254
  for ((i = 1; i <= $1; i++)); do node_up n$i $i; done
}

# node_up NAME BYTE: its first process reaps what loses its parent.
node_up() {
  local outer pid
  child unshare --net --pid --fork --uts --ipc --mount --kill-child bash -c 'root=$1
    mount --make-rprivate /; mount --rbind "$root" "$root"; hostname $2
    mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"; mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    exec chroot "$root" /bin/bash -c "sleep infinity & wait; while :; do wait; sleep 1; done"' node "$root" "$1"
  outer=$!
  disown $outer
  until_ok pgrep -P $outer
  pid=$(pgrep -P $outer)
  pid_of[$1]=$pid
  nsenter -t $switch -n ip link add "to-$1" type veth peer name eth0 netns "$pid"
  nsenter -t $switch -n ip link set "to-$1" master br0 up
  nsenter -t "$pid" -n sh -c "ip addr add $net.$2/24 dev eth0; ip link set eth0 up; ip link set lo up"
  until_ok on "$1" test -e /ready # it has changed its root
}

nodes_down() {
  local n
  for n in "${!pid_of[@]}"; do kill -9 "${pid_of[$n]}" 2>/dev/null || true; done
  kill "$switch" 2>/dev/null || true
  rm -rf "$work"
}

on() { local n=$1; shift; nsenter -t "${pid_of[$n]}" -m -u -i -n -p -r -w -- "$@" 9>&-; }
user() { local n=$1; shift; on "$n" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/sci USER=sci setpriv --reuid sci --regid sci --init-groups sh -c 'cd "$HOME" && exec "$@"' sh "$@"; }
power_off() {
  nsenter -t $switch -n ip link del "to-$1"
  kill -9 "${pid_of[$1]}"
  unset "pid_of[$1]"
}
# background NODE LOG CMD...: a service.
background() { local n=$1 log=$2; shift 2; on "$n" setsid "$@" </dev/null >"$log" 2>&1 & disown $!; }

slurm_up() {
  local i
  mkdir -p "$root/etc/slurm"
  echo 'CgroupPlugin=disabled' >"$root/etc/slurm/cgroup.conf"
  # linuxproc and task/none need no cgroups; config_overrides lets nodes claim more processors than the machine
  # has; SlurmdTimeout and KillWait are short so that tests end (sites have 300 and 30).
  cat >"$root/etc/slurm/slurm.conf" <<END
ClusterName=one
SlurmctldHost=head($net.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SlurmdTimeout=20
KillWait=5
InactiveLimit=0
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
${SLURM_EXTRA:-}
NodeName=n[1-$1] CPUs=${2:-8} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  rm -rf "$root"/var/spool/slurmctld "$root"/var/spool/slurmd*
  mkdir -p "$root/var/spool/slurmctld" "$root/run/munge"
  munge_up
  background head "$root.slurmctld.log" slurmctld -D
  until_ok on head scontrol ping
  for ((i = 1; i <= $1; i++)); do
    mkdir -p "$root/var/spool/slurmd.n$i"
    background n$i "$root.slurmd.log" slurmd -D -N n$i
  done
  slurm_nodes=$1
  until_ok all_idle
}
all_idle() { [ "$(on head sinfo -h -t idle -N -o %N | wc -l)" = $slurm_nodes ]; }

# munge_up: one daemon answers for all nodes, since its socket is in the shared folder.
munge_up() {
  on head chown munge:munge /run/munge
  on head setpriv --reuid munge --regid munge --clear-groups munged --force --socket=/run/munge/munge.socket.2 >/dev/null 2>&1
  until_ok on head munge -n
}

ssh_up() {
  local n h=$root/home/sci/.ssh
  rm -rf "$h"; mkdir -p -m 700 "$h"; mkdir -p "$root/run/sshd"
  ssh-keygen -q -t ed25519 -N '' -f "$work/host"
  ssh-keygen -q -t ed25519 -N '' -f "$h/id_ed25519"
  cp "$h/id_ed25519.pub" "$h/authorized_keys"
  for n in "${!pid_of[@]}"; do echo "$n $(cut -d' ' -f1,2 "$work/host.pub")"; done >"$h/known_hosts"
  chown -R 2000:2000 "$h"
  install -m 600 "$work/host" "$root/run/host_key"
  printf 'HostKey /run/host_key\nPidFile none\nUsePAM no\nPasswordAuthentication no\nMaxStartups 100\n' >"$root/run/sshd_config"
  for n in "${!pid_of[@]}"; do background "$n" "$root.sshd.log" /usr/sbin/sshd -D -e -f /run/sshd_config; done
  for n in "${!pid_of[@]}"; do until_ok user head ssh -o BatchMode=yes -o ConnectTimeout=2 "$n" true; done
}
