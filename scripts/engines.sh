#!/bin/bash
# engines.sh: our programs under real job engines: Slurm with several nodes, hydra (MPICH), Open MPI.
#
#   scripts/engines.sh                             sets up what is missing, runs all cases, ends what it has started
#   scripts/engines.sh slurm allocation ...        only those: slurm (tasks of srun), allocation (goulfm run in one), hydra, openmpi
#   scripts/engines.sh remove                      removes the folder of the engines
#
# How the cluster is made is said in engines/cluster.sh. Needs root and debootstrap. Code 77: skipped, and why. The first time
# takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/engines/cluster.sh
if [ "${1:-}" = remove ]; then rm -rf --one-file-system "$root" "$root".*log; exit; fi
engines_check
engines_install
nodes_up 4
slurm_up 4
ssh_up
echo "engines: $(on head sinfo -V), hydra $(on head mpiexec.hydra --version | awk '/Version/{print $2; exit}'), $(on head mpirun.openmpi --version | head -1)"

# --- cases -------------------------------------------------------------------------------------
export CGO_ENABLED=0
go build -o "$work/goulfm" ./cmd/goulfm
go build -o "$work/heat" ./examples/byhand/heat
install -m 755 "$work/heat" "$work/goulfm" "$root/home/sci"
install -m 755 "$work/goulfm" "$root/usr/local/bin"
install -m 755 examples/engines/*.sbatch examples/engines/*.sh "$root/home/sci"
heat="./heat -nx 400 -ny 400 -tol 0 -steps 2500 -print 100"
right=$("$work/goulfm" run -q -n 4 "$work/heat" ${heat#./heat} | grep '^result')
long="${heat/2500/10000}" # for those who are killed on the way: the machine may be busy
late=$("$work/goulfm" run -q -n 4 "$work/heat" ${long#./heat} | grep '^result')
sampled=$("$work/goulfm" run -q -n 4 "$work/heat" | grep '^result')
bad=0
# left: what still runs of ours, on any node.
left() { local n; for n in "${!pid_of[@]}"; do on "$n" sh -c 'for p in goulfm goulfm-daemon heat; do pgrep -x $p; done' || true; done; }
nothing_left() { [ -z "$(left)" ]; }
# verdict NAME CODE WANTED-CODE RESULTS PATTERN: what is in $work/out counts; the wanted code may be a glob.
verdict() {
  local why= results
  results=$(grep -cF "$right" "$work/out" || true)
  [[ $2 == $3 ]] || why="; exit code $2, not $3"
  [ "$results" = "$4" ] || why="$why; $results right results, not $4"
  grep -qE "$5" "$work/out" || why="$why; no line $5"
  within nothing_left || why="$why; something is left"
  if [ -z "$why" ]; then echo "ok      $1"; [ -z "${SHOW:-}" ] || cat "$work/out"; else echo "FAILED  $1: ${why#; }"; sed 's/^/        /' "$work/out" | tail -20; bad=1; fi
}
# run NAME CODE RESULTS PATTERN CMD...: on the head.
run() {
  local n=$1 c=$2 r=$3 p=$4 code=0; shift 4
  user head timeout 300 "$@" >"$work/out" 2>&1 || code=$?
  verdict "$n" $code "$c" "$r" "$p"
}
# begin CMD...: starts heat in the background, as $job, until it has computed some steps.
begin() {
  : >"$work/out"
  user head timeout 300 "$@" $long -pids >"$work/out" 2>&1 &
  job=$!
  within grep -q '^step 100 ' "$work/out" || true # the verdict tells what came instead
}
# finish NAME CODE RESULTS PATTERN
finish() {
  local code=0 short=$right
  { wait $job; } 2>/dev/null || code=$?
  right=$late; verdict "$1" $code "$2" "$3" "$4"; right=$short
}
# killed_on NODE PROGRAM: kills what runs of it there; a node sees its own processes only.
killed_on() { on "$1" sh -c 'kill -9 $(pgrep -x "$1")' sh "$2" 2>/dev/null || true; }
# pid_of_rank RANK: as the node of that rank knows it.
pid_of_rank() { sed -n "s/^rank $1: kill -9 //p" "$work/out"; }
# killed NAME CODE RESULTS PATTERN RANK NODE CMD...: kills that rank, which runs on that node, once the program is under way.
killed() {
  local n=$1 c=$2 r=$3 p=$4 rank=$5 node=$6 pid; shift 6
  begin "$@"
  pid=$(pid_of_rank "$rank")
  [ -z "$pid" ] || on "$node" kill -9 "$pid" 2>/dev/null || true # the verdict tells
  finish "$n" "$c" "$r" "$p"
}
# sample NAME PATTERN CMD...: a file of examples/engines, whose heat is smaller.
sample() {
  local big=$right n=$1 p=$2; shift 2
  right=$sampled; run "$n" 0 1 "$p" "$@"; right=$big
}
lost() { echo "repair: $1 -> $2 ranks, lost \\[$3\\]"; }

cases_slurm() {
  run "srun -n 4: one world" 0 1 '^world: 4 ranks on 1 node by Slurm step' srun -N1 -n 4 $heat
  run "srun --mpi=pmi2" 0 1 '^world: 4 ranks on 1 node by PMI-1 .Slurm step' srun -N1 --mpi=pmi2 -n 4 $heat
  run "GOULFM_ALONE=1: worlds of one" 0 2 '^result' srun -N1 -n 2 env GOULFM_ALONE=1 $heat
  run "two programs in a step" 0 2 '^world: 2 ranks' srun -N1 -n 2 sh -c "$heat; $heat"
  run "two programs in a step with PMI" 0 2 '^world: 2 ranks' srun -N1 --mpi=pmi2 -n 2 sh -c "$heat; $heat"
  run "salloc, srun" 0 1 '^world: 3 ranks on 1 node by Slurm' salloc -Q -N1 -n 3 srun $heat
  run "salloc, no srun" 0 1 '^result' salloc -Q -N1 -n 3 $heat
  run "a rank is missing" 3 0 '3 of 4 ranks after 1s; missing on n1: 2 ' env GOULFM_START_TIMEOUT=1s srun -N1 -n 4 sh -c '[ $SLURM_PROCID = 2 ] || exec ./heat'
  run "srun on two nodes, by munge" 0 1 '^world: 4 ranks on 2 nodes by Slurm step' srun -N2 -n 4 $heat
  run "srun on four nodes" 0 1 '^world: 8 ranks on 4 nodes by Slurm step' srun -N4 -n 8 $heat
  run "srun on two nodes, tasks dealt in turns" 0 1 '^world: 4 ranks on 2 nodes by Slurm step' srun -N2 -n 4 -m cyclic $heat
  run "srun --mpi=pmi2 on two nodes, by cards" 0 1 '^world: 4 ranks on 2 nodes by PMI-1 .Slurm step' srun -N2 --mpi=pmi2 -n 4 $heat
  run "a node's ranks are missing" 3 0 '2 of 4 ranks after 3s; missing, with their nodes: 2, 3 ' env GOULFM_START_TIMEOUT=3s srun -N2 --ntasks-per-node=2 sh -c '[ $SLURM_NODEID = 1 ] || exec ./heat'
  killed "srun --no-kill on four nodes, rank 3 killed" 137 1 "$(lost 8 7 3)" 3 n2 srun -N4 --no-kill --ntasks-per-node=2
  begin srun -N4 --no-kill --ntasks-per-node=2; killed_on n3 goulfm-daemon
  finish "srun --no-kill on four nodes, a node's daemon is killed" 137 1 'node 2 .n3. is lost'
  run "srun goulfm daemon on four nodes" 0 1 '^result' srun -N4 --ntasks-per-node=1 --no-kill goulfm daemon --ppn 2 -- $heat
  killed "srun goulfm daemon on four nodes, rank 3 killed" 0 1 "$(lost 8 7 3)" 3 n2 srun -N4 --ntasks-per-node=1 --no-kill goulfm daemon --ppn 2 --
  run "goulfm run in two tasks" 3 0 'each of them would start a job of its own' srun -N2 -n 2 ./goulfm run -n 2 $heat
  killed "srun --no-kill, rank 2 killed" 137 1 "$(lost 4 3 2)" 2 n1 srun -N1 --no-kill -n 4
  killed "srun, rank 0 killed" 137 1 "$(lost 4 3 0)" 0 n1 srun -N1 -n 4
}

cases_allocation() {
  local all="salloc -Q -N4 --ntasks-per-node=2 ./goulfm run"
  run "goulfm run on 4 nodes" 0 1 '^result' $all $heat
  printf '#!/bin/sh\n#SBATCH -N3 --ntasks-per-node=2 --cpus-per-task=2 -o batch.out\n./goulfm run %s\n' "$heat" >"$root/home/sci/batch.sh"
  run "goulfm run in a batch script" 0 1 '^result' sh -c 'sbatch -Q -W batch.sh; code=$?; cat batch.out; exit $code'
  run "goulfm run in one task" 0 1 '^result' srun -N1 -n1 ./goulfm run -n 4 $heat
  run "--kill node2" 0 1 'node 2 .n3. is lost' $all --kill node2@500ms $heat
  killed "a rank of n2 is killed" 0 1 "$(lost 8 7 3)" 3 n2 $all
  begin $all; killed_on n2 goulfm
  finish "a node's daemon is killed" 0 1 'node 1 .n2. is lost'
  begin $all; killed_on head srun
  finish "srun is killed: nobody needs it" 0 1 '^result'
  begin $all; killed_on head goulfm
  finish "the launcher is killed: nothing is left" '*' 0 '^step 100'
  begin $all; user head scancel -u sci
  finish "scancel" '[1-9]*' 0 '^step 100'
  run "no goulfm there" 3 0 'node . .n.*: install goulfm there' $all --daemon-path /no/goulfm $heat
  run "a node outside of the allocation" 3 0 'are all hosts in this allocation' salloc -Q -N2 ./goulfm run --launcher slurm --host n1,n4 $heat
  run "no srun" 3 0 "needs Slurm's srun in PATH" salloc -Q -N2 env PATH=/nowhere ./goulfm run $heat
  sample "heat.sbatch" 'result' sh -c 'sbatch -Q -W -o batch.out heat.sbatch; code=$?; cat batch.out; exit $code'
  sample "heat-srun.sbatch" 'srun ended with code 0' sh -c 'sbatch -Q -W -o batch.out heat-srun.sbatch; code=$?; cat batch.out; exit $code'
  run "doctor in an allocation" 0 0 '^ok .*allocation: goulfm run takes n.1-2.' salloc -Q -N2 goulfm doctor
  run "doctor as a task of each node" 0 0 '^ok .*munge: a credential was encoded and decoded' srun -N2 --ntasks-per-node=1 goulfm doctor
  run "doctor where a death ends all" 1 0 '^warning .*SLURM_KILL_BAD_EXIT=1' env SLURM_KILL_BAD_EXIT=1 goulfm doctor
  on head sh -c 'kill $(pgrep -x munged)'; within sh -c "! nsenter -t ${pid_of[head]} -p -r -m pgrep -x munged"
  run "doctor where munge is down" 3 0 '^error .*munge: .*is munged running' goulfm doctor
  run "munge is down" 3 0 'munge does not work on this machine' env SLURM_JOB_ID=1 "SLURM_JOB_NODELIST=n[1-2]" ./goulfm run $heat
  munge_up
}

cases_hydra() {
  run "mpiexec -n 4: one world" 0 1 '^world: 4 ranks on 1 node by PMI-1 .hydra.; hydra ends all' mpiexec.hydra -n 4 $heat
  run "mpiexec -pmi-port" 0 1 '^world: 4 ranks on 1 node by PMI-1 .hydra.' mpiexec.hydra -pmi-port -n 4 $heat
  run "mpiexec -n 1" 0 1 '^result' mpiexec.hydra -n 1 $heat
  run "mpiexec in salloc" 0 1 '^world: 4 ranks on 1 node by PMI-1 .hydra.' salloc -Q -N1 -n 4 mpiexec.hydra -n 4 $heat
  run "srun --mpi=pmi2 below mpiexec" 0 1 '^world: 2 ranks on 1 node by PMI-1 .Slurm' mpiexec.hydra -n 1 srun -N1 --mpi=pmi2 -n 2 $heat
  run "a second program of a task" 3 0 'an earlier program of this task may have used it' mpiexec.hydra -n 2 sh -c "./heat -steps 1 >/dev/null; $heat"
  run "mpiexec on two nodes, by cards" 0 1 '^world: 4 ranks on 2 nodes by PMI-1 .hydra' mpiexec.hydra -launcher ssh -hosts n1:2,n2:2 -n 4 $heat
  run "goulfm daemon on two nodes" 0 1 '^result' mpiexec.hydra -launcher ssh -hosts n1,n2 -ppn 1 -n 2 goulfm daemon --ppn 2 -- $heat
  killed "goulfm daemon on two nodes, rank 3 killed" 0 1 "$(lost 4 3 3)" 3 n2 mpiexec.hydra -launcher ssh -hosts n1,n2 -ppn 1 -n 2 goulfm daemon --ppn 2 --
  killed "mpiexec, rank 1 killed: hydra ends all" 9 0 '^step 100' 1 head mpiexec.hydra -disable-auto-cleanup -n 4
  killed "goulfm run below mpiexec, rank 1 killed" 0 1 "$(lost 4 3 1)" 1 head mpiexec.hydra -n 1 ./goulfm run -n 4
  sample "mpiexec.sh" '^result' env PATH=/home/sci/bin:/usr/local/bin:/usr/bin:/bin sh -c 'rm -rf bin; mkdir bin; printf "#!/bin/sh\\nexec mpiexec.hydra \"\$@\"\\n" >bin/mpiexec; chmod 755 bin/mpiexec; sh mpiexec.sh'
  run "doctor below mpiexec" 1 0 '^warning .*engine: survivors: .*mpiexec -n 1 goulfm run' mpiexec.hydra -n 1 goulfm doctor
  run "doctor of hosts" 0 0 '^ok .*host n2: is reached' sh -c 'goulfm doctor --host n1,n2 --daemon-path /usr/local/bin/goulfm'
  run "goulfm run --hostfile by ssh" 0 1 '^result' sh -c "printf 'n1 slots=2\\nn2:2\\n' >hosts; exec ./goulfm run --hostfile hosts $heat"
  run "goulfm run --host by ssh, a node killed" 0 1 'node 1 .n2. is lost' ./goulfm run --host n1:2,n2:2 --kill node1@500ms $heat
}

cases_openmpi() {
  local mpirun="mpirun.openmpi --oversubscribe --bind-to none"
  run "mpirun -n 4: one world" 0 1 '^world: 4 ranks on 1 node by Open MPI' $mpirun -n 4 $heat
  killed "mpirun --enable-recovery, rank 1 killed" 0 1 "$(lost 4 3 1)" 1 head $mpirun --enable-recovery -n 4
  killed "mpirun, rank 1 killed: all end" 137 0 '^step 100' 1 head $mpirun -n 4
  run "mpirun in salloc" 0 1 '^world: 4 ranks on 1 node by Open MPI' salloc -Q -N1 -n 2 $mpirun -n 4 $heat
  run "mpirun on two nodes: how do daemons meet?" 3 0 'set GOULFM_SECRET_FILE' $mpirun --host n1:2,n2:2 -n 4 $heat
  run "mpirun on two nodes, by a file" 0 1 '^world: 4 ranks on 2 nodes by Open MPI' sh -c "head -c 32 /dev/urandom | base64 >secret; chmod 600 secret
    exec $mpirun -x GOULFM_SECRET_FILE=/home/sci/secret -x GOULFM_RENDEZVOUS=n1:20001 --host n1:2,n2:2 -n 4 $heat"
  killed "goulfm run below mpirun, rank 1 killed" 0 1 "$(lost 4 3 1)" 1 head $mpirun -n 1 ./goulfm run -n 4
}
[ $# -gt 0 ] || set -- slurm allocation hydra openmpi
for engine in "$@"; do
  case $engine in slurm | allocation | hydra | openmpi) cases_$engine ;; *) echo "engines: slurm, allocation, hydra or openmpi" >&2; exit 2 ;; esac
done
exit $bad
