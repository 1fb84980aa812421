package rm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	srun    = "slurm-24.11.5-srun-none"
	srunPMI = "slurm-24.11.5-srun-pmi2"
	mpirun  = "slurm-24.11.5-salloc-mpirun"
	hydra   = "hydra-4.2.1-ssh"
	pod     = "kubernetes-1.34.4-indexed-job"
)

func recognise(t *testing.T, env []string, socket func(int) bool) Claim {
	t.Helper()
	c, err := Recognise(env, socket)
	require.NoError(t, err)
	return c
}

// TestRowsInOrder: of two rows that hold, the upper one decides.
func TestRowsInOrder(t *testing.T) {
	openMPI := []string{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=8", "PMIX_NAMESPACE=ns"}
	index := []string{"JOB_COMPLETION_INDEX=1", "GOULFM_NODES=2", "GOULFM_JOB=u", "GOULFM_SERVICE=s", "HOSTNAME=heat-1"}
	pmi := []string{"PMI_FD=7", "PMI_RANK=2", "PMI_SIZE=4"}
	env := observed(t, srun)
	assert.Equal(t, Slurm, recognise(t, set(env, index...), yes).Engine)
	env = set(env, openMPI...)
	assert.Equal(t, OpenMPI, recognise(t, set(env, index...), yes).Engine)
	env = set(env, pmi...)
	c := recognise(t, env, yes)
	assert.Equal(t, PMI, c.Engine)
	assert.Equal(t, []string{"pmix/ns/0", "slurm/bottle/1.0.0/1"}, c.Covers)
	assert.Equal(t, OpenMPI, recognise(t, env, no).Engine, "a PMI_FD without a server is not there")
	assert.Equal(t, Alone, recognise(t, set(env, AloneVariable+"=1"), yes).Engine)
	assert.Equal(t, PMI, recognise(t, set(env, AloneVariable+"=0"), yes).Engine)
	assert.Equal(t, PMI, recognise(t, set(env, AloneVariable+"="), yes).Engine)
	assert.Equal(t, Goulfm, recognise(t, set(env, AloneVariable+"=1", "GOULFM_BOOT={}"), yes).Engine)
	assert.Equal(t, Alone, recognise(t, nil, nil).Engine)
}

// TestOtherServerInsideAStep: a PMI server that is not Slurm's and does not set hydra's
// variables. Slurm's numbers describe the daemons of the server's launcher.
func TestOtherServerInsideAStep(t *testing.T) {
	c := recognise(t, set(observed(t, srun), "PMI_FD=7", "PMI_RANK=1", "PMI_SIZE=4"), yes)
	assert.Equal(t, "PMI-1: rank 1/4 local ?/? node ?/? covers slurm/bottle/1.0.0/1", text(c))
	c, err := c.WithServer(Unknown, Unknown, "other")
	require.NoError(t, err)
	assert.Equal(t, "PMI-1: rank 1/4 local ?/? node ?/? key pmi/other covers slurm/bottle/1.0.0/1", text(c))
}

// TestTasksOfTheStep: SLURM_NTASKS is the allocation's, or that of a surrounding step.
func TestTasksOfTheStep(t *testing.T) {
	assert.Equal(t, 6, recognise(t, set(observed(t, srun), "SLURM_NTASKS=9", "SLURM_NPROCS=9"), no).Size)
	env := unset(observed(t, "slurm-24.11.5-salloc-mpiexec"), "PMI_FD", "PMI_RANK", "PMI_SIZE")
	assert.Equal(t, 2, recognise(t, env, no).Size)
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "010": 10, "4294967290": 4294967290} {
		n, ok := number(text, 1<<32)
		assert.True(t, ok && n == want, text)
	}
	for _, text := range []string{"", "-1", "+1", " 1", "1 ", "1_0", "0x1", "4294967296", "99999999999999999999", "1e3"} {
		_, ok := number(text, 1<<32)
		assert.False(t, ok, text)
	}
}

// TestFirstOfDoublesWins: Open MPI and srun --mpi=pmix set variables twice.
func TestFirstOfDoublesWins(t *testing.T) {
	env := observed(t, "slurm-24.11.5-srun-pmix")
	c := recognise(t, append(set(env, "SLURM_PROCID=2", "SLURM_LOCALID=2"), "SLURM_PROCID=3", "SLURM_LOCALID=3"), yes)
	assert.Equal(t, 2, c.Rank)
	assert.Equal(t, 2, c.Local)
}

// TestPMISocketIsAskedOnce: only about the descriptor that PMI_FD names.
func TestPMISocketIsAskedOnce(t *testing.T) {
	var asked []int
	recognise(t, observed(t, hydra), func(fd int) bool { asked = append(asked, fd); return true })
	recognise(t, observed(t, srun), func(fd int) bool { asked = append(asked, fd); return true })
	assert.Equal(t, []int{6}, asked)
}

// TestUnusableEvidence: evidence that a process is one of several, without its rank, is an error
// with a remedy, never a world of one.
func TestUnusableEvidence(t *testing.T) {
	const use = ": use srun, mpiexec, mpirun or goulfm run, or set GOULFM_ALONE=1 for a world of one"
	for _, c := range []struct{ env, want string }{
		{"PMIX_RANK=3", "PMIX_RANK=3: one of several processes, but nothing says of how many" + use},
		{"PMIX_RANK=", `PMIX_RANK="": one of several processes, but nothing says of how many`},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=8", "PMI_RANK=1: one of several processes, but PMI_FD=8 is no socket with a PMI server at its other end (an earlier program of this task may have used it)" + use},
		{"PMI_RANK=1 PMI_SIZE=2", "PMI_RANK=1: one of several processes, but PMI_FD is not set, which is to be a descriptor of the PMI server" + use},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=x", "PMI_FD=x, which is to be a descriptor"},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=-1", "PMI_FD=-1, which is to be a descriptor"},
		{"PMI_FD=8", "PMI_FD=8: one of several processes, but PMI_FD=8 is no socket"},
		{"PMI_RANK=1 PMI_SIZE=1 PMI_FD=4", "PMI_RANK=1: one of several processes, but PMI_RANK=1 and PMI_SIZE=1 are no rank and size"},
		{"PMI_RANK=1 PMI_FD=4", "PMI_RANK=1 and PMI_SIZE is not set are no rank and size"},
		{"PMI_SIZE=2 PMI_FD=4", "PMI_FD=4: one of several processes, but PMI_RANK is not set and PMI_SIZE=2 are no rank and size"},
		{"PMI_PORT=n2:1 PMI_RANK=1", "PMI_PORT=n2:1: one of several processes, but PMI_ID is not set"},
		{"PMI_PORT= PMI_ID=1", `PMI_PORT="": one of several processes, but PMI_ID=1`},
		{"PMI_PORT=n2:1 PMI_ID=+1", "PMI_ID=+1"},
		{"OMPI_COMM_WORLD_RANK=3 PMIX_NAMESPACE=n", "OMPI_COMM_WORLD_RANK=3 and OMPI_COMM_WORLD_SIZE is not set are no rank and size" + use},
		{"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=n", "OMPI_COMM_WORLD_RANK=3 and OMPI_COMM_WORLD_SIZE=3 are no rank and size"},
		{"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE is not set, which is to name the job"},
		{"SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 SLURM_JOB_ID=7", "SLURM_STEP_NUM_TASKS=4: one of several processes, but of SLURM_PROCID=1, SLURM_STEP_ID is not set and SLURM_JOB_ID=7 one is no number as Slurm sets it" + use},
		{"SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0", "SLURM_PROCID=4"},
		{"SLURM_STEP_NUM_TASKS=99999999999999999999 SLURM_PROCID=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=99999999999999999999:"},
		{"JOB_COMPLETION_INDEX=4 GOULFM_NODES=4", "JOB_COMPLETION_INDEX=4 is not below GOULFM_NODES=4"},
		{"JOB_COMPLETION_INDEX=4 GOULFM_NODES=4 GOULFM_NODES_MAX=x", `GOULFM_NODES=4, GOULFM_NODES_MAX="x": numbers of pods from 1 to 65536`},
		{"JOB_COMPLETION_INDEX=0 GOULFM_NODES=0", "numbers of pods from 1"},
		{"JOB_COMPLETION_INDEX=0 GOULFM_NODES=70000", "numbers of pods from 1"},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4", "GOULFM_JOB is not set: set it to the Job's controller-uid"},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4 GOULFM_JOB=u HOSTNAME=heat-11", `HOSTNAME=heat-11 does not end in "-1"`},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4 GOULFM_JOB=u", `HOSTNAME is not set does not end in "-1"`},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4 GOULFM_JOB=u HOSTNAME=heat-1", "GOULFM_SERVICE is not set"},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4 GOULFM_JOB=u HOSTNAME=heat-1 GOULFM_SERVICE=a,b", "GOULFM_SERVICE=a,b"},
		{"JOB_COMPLETION_INDEX=1 GOULFM_NODES=4 GOULFM_JOB=u HOSTNAME=heat-1 GOULFM_SERVICE=[1-2]", "GOULFM_SERVICE=[1-2]"},
		{"GOULFM_ALONE=yes", "GOULFM_ALONE=yes: 1 or 0 is expected"},
	} {
		socket := func(fd int) bool { return fd == 4 }
		_, err := Recognise(strings.Fields(c.env), socket)
		require.ErrorIs(t, err, ErrEvidence, c.env)
		assert.ErrorContains(t, err, c.want)
		if !strings.HasPrefix(c.env, AloneVariable) {
			assert.Equal(t, Alone, recognise(t, append(strings.Fields(c.env), AloneVariable+"=1"), no).Engine, "the remedy")
		}
		assert.Equal(t, Goulfm, recognise(t, append(strings.Fields(c.env), "GOULFM_BOOT=x"), no).Engine, "goulfm run has told all")
		if !strings.Contains(c.env, "SLURM_") && !strings.Contains(c.env, "OMPI_") && !strings.HasPrefix(c.env, AloneVariable) {
			got := recognise(t, set(observed(t, mpirun), strings.Fields(c.env)...), no)
			assert.Equal(t, "Open MPI", got.Engine.String(), "%s: another row holds", c.env)
			assert.NotEmpty(t, got.Ignored)
		}
	}
}

// TestDeadServerFallsThrough: after one program of a task has finalized, the PMI socket of the
// next one is dead. Under Slurm the step's variables are as good.
func TestDeadServerFallsThrough(t *testing.T) {
	c := recognise(t, observed(t, srunPMI), no)
	assert.Equal(t, "Slurm: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/2.0.0", text(c))
	assert.Contains(t, strings.Join(c.Ignored, "\n"), "PMI_FD=19 is no socket with a PMI server")
	_, err := Recognise(observed(t, hydra), no)
	assert.ErrorIs(t, err, ErrEvidence)
	env := set(observed(t, hydra), "PMI_PORT=n2:4", "PMI_ID=3")
	assert.Equal(t, PMI, recognise(t, env, no).Engine, "a port is another way to the server")
}

// TestRequeue: the second run has the job and step ids of the first, whose tasks may still live.
func TestRequeue(t *testing.T) {
	env := observed(t, "slurm-24.11.5-requeued")
	first := recognise(t, unset(env, "SLURM_RESTART_COUNT"), no)
	second := recognise(t, env, no)
	assert.NotEqual(t, first.Key, second.Key)
	pmi := set(env, "PMI_FD=3", "PMI_RANK=1", "PMI_SIZE=3")
	c, err := recognise(t, pmi, yes).WithServer(Unknown, Unknown, "7.0")
	require.NoError(t, err)
	assert.Equal(t, second.Key, c.Key, "a kvs of Slurm's has the same name in both runs")
}

// TestNewStepIsANewWorld: a rank calls srun, whose tasks inherit the rank's mark.
func TestNewStepIsANewWorld(t *testing.T) {
	parent := recognise(t, observed(t, srun), no)
	env := set(observed(t, srun), JoinedVariable+"="+parent.Mark())
	assert.Equal(t, Alone, recognise(t, env, no).Engine)
	assert.Equal(t, Slurm, recognise(t, set(env, "SLURM_STEP_ID=1"), no).Engine)
	assert.Equal(t, Slurm, recognise(t, set(env, "SLURM_PROCID=0"), no).Engine, "another rank's mark")
	mark := JoinedVariable + "=x/1 " + parent.Mark() + "1" // of rank 11
	assert.Equal(t, Slurm, recognise(t, set(observed(t, srun), mark), no).Engine, "a mark that only begins so")
}

// TestChildOfABornRank: a daemon that runs as a task of a step starts ranks by GOULFM_BOOT. A
// child of such a rank must not take the daemon's place.
func TestChildOfABornRank(t *testing.T) {
	c := recognise(t, set(observed(t, srun), "GOULFM_BOOT={}"), no)
	assert.Equal(t, "slurm/bottle/1.0.0/1", c.Mark())
	assert.Equal(t, Alone, recognise(t, set(observed(t, srun), JoinedVariable+"="+c.Mark()), no).Engine)
}

// TestByHandInATaskOfSeveral: a program started by hand after srun -n2 --pty bash is rank 0 of 2,
// as far as its environment shows. A user can override that, and the children of the process
// inherit the override.
func TestByHandInATaskOfSeveral(t *testing.T) {
	env := set(observed(t, srun), "SLURM_PTY_PORT=35315")
	assert.Equal(t, Slurm, recognise(t, env, no).Engine)
	c := recognise(t, set(env, AloneVariable+"=1"), no)
	assert.Equal(t, "no engine: rank 0/1 local 0/1 node 0/1", text(c))
	assert.Empty(t, c.Mark())
}

// TestOtherEnginesInsideARank: a rank of a step runs mpirun or mpiexec, which are worlds of their
// own, although the mark of the step is inherited.
func TestOtherEnginesInsideARank(t *testing.T) {
	mark := JoinedVariable + "=slurm/bottle/9.0.0/1"
	assert.Equal(t, OpenMPI, recognise(t, set(observed(t, mpirun), mark), no).Engine)
	assert.Equal(t, PMI, recognise(t, set(observed(t, "slurm-24.11.5-pmi2-step-in-mpiexec"), mark), yes).Engine)
}

func TestWithServerErrors(t *testing.T) {
	socket := recognise(t, observed(t, hydra), yes)
	port := recognise(t, observed(t, "hydra-4.2.1-pmi-port"), yes)
	for _, c := range []struct {
		claim      Claim
		rank, size int
		kvs, want  string
	}{
		{socket, 2, 4, "k", "the PMI server says rank 2 of 4, the environment 3 of 4"},
		{socket, 3, 5, "k", "the PMI server says rank 3 of 5"},
		{port, Unknown, Unknown, "k", "the PMI server says rank -1 of -1"},
		{port, 4, 4, "k", "the PMI server says rank 4 of 4"},
		{port, 0, RanksMax + 1, "k", "the PMI server says"},
		{socket, Unknown, Unknown, "", "the PMI server has no kvsname"},
	} {
		_, err := c.claim.WithServer(c.rank, c.size, c.kvs)
		require.ErrorIs(t, err, ErrEvidence)
		assert.ErrorContains(t, err, c.want)
	}
	one, err := port.WithServer(0, 1, "k")
	require.NoError(t, err)
	assert.Equal(t, "PMI-1: rank 0/1 local ?/? node ?/? key pmi/k", text(one), "2 ranks on a node are not of a world of 1")
	slurm := recognise(t, observed(t, srun), no)
	same, err := slurm.WithServer(0, 1, "k")
	require.NoError(t, err)
	assert.Equal(t, slurm, same)
}

// TestPartsThatAreNotKnown: a part of Slurm's that makes no sense is unknown, and reported.
func TestPartsThatAreNotKnown(t *testing.T) {
	for _, c := range []struct{ entry, want, ignored string }{
		{"SLURM_GTIDS=0,2,3", "local ?/? node 0/3 on n[1-3]", "SLURM_GTIDS=0,2,3, which is to list the ranks of this node: this rank is not among them"},
		{"SLURM_GTIDS=0,1,1", "local ?/?", "a rank is there twice"},
		{"SLURM_GTIDS=0,1,6", "local ?/?", "a rank below 6 is expected for each"},
		{"SLURM_GTIDS=0,1,2,3,4,5,0", "local ?/?", "a rank below 6 is expected for each"},
		{"SLURM_GTIDS=", "local ?/?", "a rank below 6"},
		{"SLURM_LOCALID=2", "local ?/4 node 0/3 peers 0-3", ""},
		{"SLURM_NODEID=3", "node ?/? peers 0-3 key", "SLURM_STEP_NODELIST=n[1-3]: 3 nodes, not SLURM_STEP_NUM_NODES=3"},
		{"SLURM_STEP_NODELIST=n[1-2]", "node 0/3 peers 0-3 key", "SLURM_STEP_NODELIST=n[1-2]: 2 nodes, not SLURM_STEP_NUM_NODES=3"},
		{"SLURM_STEP_NODELIST=n[1-", "node 0/3 peers 0-3 key", "line 1, column 5: expected a number"},
		{"SLURM_CLUSTER_NAME=a b", "key slurm/a_b/1.0.0", ""},
	} {
		got := recognise(t, set(observed(t, srun), c.entry), no)
		assert.Contains(t, text(got), c.want, c.entry)
		assert.Contains(t, strings.Join(got.Ignored, "\n"), c.ignored)
	}
	got := recognise(t, set(observed(t, hydra), "MPI_LOCALNRANKS=5"), yes)
	assert.Contains(t, text(got), "rank 3/4 local ?/?")
}

// TestPods: a pod is a node; the placement of ranks is up to the daemons of the pods. A Job that
// has grown has pods with the numbers of later nodes.
func TestPods(t *testing.T) {
	env := set(observed(t, pod), "GOULFM_NODES=4", "GOULFM_JOB=a-b", "GOULFM_SERVICE=heat")
	c := recognise(t, env, no)
	assert.Equal(t, "Kubernetes: rank ?/? local ?/? node 1/4 on heat-0.heat,heat-1.heat,heat-2.heat,heat-3.heat key k8s/a-b", text(c))
	assert.Equal(t, Alone, recognise(t, set(env, JoinedVariable+"="+c.Mark()), no).Engine)
	grown := recognise(t, set(env, "GOULFM_NODES_MAX=6", "JOB_COMPLETION_INDEX=5", "HOSTNAME=heat-5"), no)
	assert.Equal(t, []int{5, 4, 6}, []int{grown.Node, grown.Nodes, len(grown.Hosts)})
	less := recognise(t, set(env, "GOULFM_NODES_MAX=2"), no)
	assert.Len(t, less.Hosts, 4)
	single := recognise(t, []string{"JOB_COMPLETION_INDEX=0", "GOULFM_NODES=1", "GOULFM_JOB=u"}, no)
	assert.Equal(t, "Kubernetes: rank ?/? local ?/? node 0/1 key k8s/u", text(single))
}

// TestIgnored: a user finds out why a world is smaller than the allocation.
func TestIgnored(t *testing.T) {
	for name, want := range map[string]string{
		"slurm-24.11.5-batch-script":     "SLURM_JOB_ID=5: an allocation or a batch script, in which this process is one; srun starts several",
		"slurm-24.11.5-salloc-shell":     "SLURM_JOB_ID=6: an allocation",
		"slurm-24.11.5-interactive-step": "SLURM_STEP_ID=4294967290: a shell that Slurm started",
		pod:                              "JOB_COMPLETION_INDEX=1: an index of its own, as GOULFM_NODES is not set",
		mpirun:                           "SLURM_PROCID=1 of SLURM_STEP_NUM_TASKS=2 in step 9.0: Open MPI goes first",
		"slurm-24.11.5-srun-pmix":        "PMIX_RANK=1: nothing says of how many",
	} {
		assert.Contains(t, strings.Join(recognise(t, observed(t, name), yes).Ignored, "\n"), want)
	}
}

func TestSpent(t *testing.T) {
	assert.Equal(t, []string{"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "PMI_FD", "PMI_JOBID", "PMI_RANK", "PMI_SIZE"},
		Spent(observed(t, "slurm-24.11.5-pmi2-step-in-mpiexec")))
	assert.Subset(t, Spent(observed(t, mpirun)), []string{"PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})
	assert.Empty(t, Spent(observed(t, srun)))
	assert.Empty(t, Spent([]string{"PMI_RANK"}))
}

// TestCaveat: the caveat is only about hydra, and only if hydra has started the ranks.
func TestCaveat(t *testing.T) {
	assert.Empty(t, recognise(t, observed(t, srun), yes).Caveat())
	assert.Empty(t, recognise(t, observed(t, srunPMI), yes).Caveat())
	assert.Equal(t, "; hydra ends all ranks of a node when a signal kills one: mpiexec -n 1 goulfm run -n 4 PROGRAM survives that",
		recognise(t, observed(t, hydra), yes).Caveat())
}

// TestExplain: the lines for the user.
func TestExplain(t *testing.T) {
	assert.Equal(t, `this process: 6 ranks on 3 nodes by PMI-1 (Slurm step 2.0)
decided by: PMI_FD=19 has a server, PMI_RANK=1 of PMI_SIZE=6
place: rank 1 of 6, process 1 of 4, node 0 of 3
ranks on this node: 0-3
nodes: n[1-3]
key: slurm/bottle/2.0.0
survivors: go on with srun's defaults (--kill-on-bad-exit=0 --wait=0); --no-kill keeps them also when a node is lost`,
		strings.Join(Explain(recognise(t, observed(t, srunPMI), yes)), "\n"))
	assert.Equal(t, `this process: a world of one
decided by: no job engine started this process as one of several
ignored: SLURM_JOB_ID=5: an allocation or a batch script, in which this process is one; srun starts several`,
		strings.Join(Explain(recognise(t, observed(t, "slurm-24.11.5-batch-script"), yes)), "\n"))
	for name, want := range map[string]string{
		hydra:                  "this process: 4 ranks by PMI-1 (hydra)",
		"hydra-4.2.1-pmi-port": "this process: ranks by PMI-1 (hydra), whose server says how many",
		"hydra-4.2.1-local":    "this process: 2 ranks on 1 node by PMI-1 (hydra)",
		mpirun:                 "this process: 4 ranks by Open MPI",
		srun:                   "this process: 6 ranks on 3 nodes by Slurm step 1.0",
	} {
		assert.Equal(t, want, Explain(recognise(t, observed(t, name), yes))[0])
	}
	born := recognise(t, []string{"GOULFM_BOOT={}"}, no)
	assert.Equal(t, []string{"this process: ranks by goulfm run", "decided by: GOULFM_BOOT is set: goulfm started this process"}, Explain(born))
	env := set(observed(t, pod), "GOULFM_NODES=4", "GOULFM_JOB=a-b", "GOULFM_SERVICE=heat")
	assert.Contains(t, Explain(recognise(t, env, no)), "place: node 1 of 4")
	assert.Equal(t, "0,3-6", shortRanks([]int{0, 3, 4, 5, 6}))
	assert.Equal(t, "Engine(9)", Engine(9).String())
}

// TestLongValuesAreCut: the values of an environment neither flood a terminal nor control it.
func TestLongValuesAreCut(t *testing.T) {
	_, err := Recognise([]string{"PMIX_RANK=" + strings.Repeat("\x1b[2J", 1000)}, no)
	require.ErrorIs(t, err, ErrEvidence)
	assert.Less(t, len(err.Error()), 400)
	assert.NotContains(t, err.Error(), "\x1b")
}
