package enginejob_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOneWorld: processes that an engine has started are one world, and rank 0 reports it.
func TestOneWorld(t *testing.T) {
	s := newStep(t, 4)
	all, sum := s.startAll("sum"), 0
	for _, r := range all {
		sum += r.Process.Pid
	}
	for number, r := range all {
		r.wait()
		assert.Zero(t, r.code)
		assert.Equal(t, fmt.Sprintf("rank %d of 4: %d\n", number, sum), r.rest)
		want := ""
		if number == 0 {
			want = "world: 4 ranks on 1 node by Slurm step 7.0\n"
		}
		assert.Equal(t, want, r.errs.String())
	}
}

// TestAQuietWorld: the ranks print no line about the world.
func TestAQuietWorld(t *testing.T) {
	s := newStep(t, 2)
	for _, r := range s.startAll("sum", "GOULFM_QUIET=1") {
		assert.Empty(t, r.wait().errs.String())
	}
}

// TestADeathIsSurvived: whichever rank dies, also the one that has started the daemon.
func TestADeathIsSurvived(t *testing.T) {
	for victim := range 3 {
		s := newStep(t, 3)
		s.number = victim % 3
		outlive(t, s.startAll("survive"), func(all []*rank) (lost []int) {
			require.NoError(t, all[victim].Process.Kill())
			return []int{victim}
		})
	}
}

// outlive makes ranks of "survive" meet, and kill ends some of them. The others end well, in a
// world that is smaller by the lost ranks.
func outlive(t *testing.T, all []*rank, kill func(all []*rank) (lost []int)) {
	t.Helper()
	for _, r := range all {
		assert.Equal(t, "together", r.line())
	}
	lost := kill(all)
	next := 0
	for number, r := range all {
		r.wait()
		if slices.Contains(lost, number) {
			assert.NotZero(t, r.code)
			continue
		}
		assert.Zero(t, r.code, r.errs)
		assert.Equal(t, fmt.Sprintf("rank %d of %d\n", next, len(all)-len(lost)), r.rest)
		next++
	}
}

// TestTwoSteps: two steps are two worlds, at one time.
func TestTwoSteps(t *testing.T) {
	a := newStep(t, 2)
	b := a
	b.number, b.size = 1, 3
	for i, ranks := range [][]*rank{a.startAll("sum"), b.startAll("sum")} {
		for number, r := range ranks {
			assert.Contains(t, r.wait().rest, fmt.Sprintf("rank %d of %d", number, 2+i))
		}
	}
}

// TestSomebodyIsMissing: the line names the missing rank, and all end with code 3.
func TestSomebodyIsMissing(t *testing.T) {
	s := newStep(t, 2)
	r := s.start("sum", 1, "GOULFM_START_TIMEOUT=1s").wait()
	assert.Equal(t, 3, r.code)
	assert.Contains(t, r.errs.String(), "1 of 2 ranks after 1s; missing on ")
	assert.Contains(t, r.errs.String(), ": 0 (GOULFM_START_TIMEOUT")
	assert.Equal(t, 1, strings.Count(r.errs.String(), "\n"))
}

// TestADeathBeforeTheWorld: a death ends the start for all: code 3, and one line.
func TestADeathBeforeTheWorld(t *testing.T) {
	s := newStep(t, 4)
	lives := []*rank{s.start("sum", 0, "ADOPT_TEST_SAY=waiting"), s.start("sum", 2, "ADOPT_TEST_SAY=waiting")}
	for _, r := range lives {
		assert.Equal(t, "waiting", r.line())
	}
	dies := s.start("sum", 1, "ADOPT_TEST_DIE=waiting")
	text := ""
	for _, r := range lives {
		assert.Equal(t, 3, r.wait().code)
		text += r.errs.String()
	}
	dies.wait()
	assert.Equal(t, "goulfm: init: the world did not start: rank 1 ended before all had come\n", text)
}

// TestChildrenOfRanks: the children of ranks are worlds of one.
func TestChildrenOfRanks(t *testing.T) {
	s := newStep(t, 2)
	for _, r := range s.startAll("parent") {
		assert.Contains(t, r.wait().rest, "child: rank 0 of 1")
		assert.Zero(t, r.code, r.errs)
	}
}

// TestAlone: a user may choose worlds of one.
func TestAlone(t *testing.T) {
	s := newStep(t, 2)
	for _, r := range s.startAll("sum", "GOULFM_ALONE=1") {
		assert.Equal(t, fmt.Sprintf("rank 0 of 1: %d\n", r.Process.Pid), r.wait().rest)
	}
}

// TestTheNextProgram: the next program of the same tasks is a world of its own, once the first
// one has ended: srun sh -c './heat; ./post'.
func TestTheNextProgram(t *testing.T) {
	s := newStep(t, 2)
	first := s.startAll("wait")
	for _, r := range first {
		assert.Equal(t, "in 2", r.line())
	}
	first[0].stdin.Close()
	_, err := first[0].Process.Wait()
	require.NoError(t, err)
	early := s.start("sum", 0, "ADOPT_TEST_SAY=started")
	assert.Equal(t, "started", early.line())
	first[1].stdin.Close()
	first[1].wait()
	late := s.start("sum", 1)
	sum := early.Process.Pid + late.Process.Pid
	assert.Equal(t, fmt.Sprintf("rank 0 of 2: %d\n", sum), early.wait().rest)
	assert.Equal(t, fmt.Sprintf("rank 1 of 2: %d\n", sum), late.wait().rest)
}

// TestAbortEndsAll: also processes that the daemon did not start.
func TestAbortEndsAll(t *testing.T) {
	s := newStep(t, 3)
	for number, r := range s.startAll("abort") {
		r.wait()
		if number == 1 && r.code == 7 {
			continue
		}
		assert.Equal(t, syscall.SIGKILL, r.ProcessState.Sys().(syscall.WaitStatus).Signal())
	}
}

// TestSpawnIsRefused: and the job continues.
func TestSpawnIsRefused(t *testing.T) {
	s := newStep(t, 2)
	all := s.startAll("spawn")
	for _, r := range all {
		assert.Zero(t, r.wait().code)
	}
	assert.Contains(t, all[0].rest, "not supported under a job engine")
}

// TestAnEngineThatTerminatesAll: an engine sends TERM to every process of a step. The daemon
// ignores that: the ranks end in order.
func TestAnEngineThatTerminatesAll(t *testing.T) {
	s := newStep(t, 2)
	all := s.startAll("wait")
	for _, r := range all {
		assert.Equal(t, "in 2", r.line())
	}
	daemons := s.daemons()
	require.Len(t, daemons, 1)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, syscall.Kill(daemons[0], sig))
	}
	late := s.start("sum", 0, "ADOPT_TEST_SAY=started", "GOULFM_START_TIMEOUT=5s")
	assert.Equal(t, "started", late.line(), "it lives")
	require.NoError(t, late.Process.Kill())
	for _, r := range all {
		r.stdin.Close()
	}
	for _, r := range all {
		assert.Zero(t, r.wait().code)
	}
}

// TestADaemonThatIsKilled: its ranks end with it, because no process would detect their deaths.
func TestADaemonThatIsKilled(t *testing.T) {
	s := newStep(t, 2)
	all := s.startAll("wait")
	for _, r := range all {
		assert.Equal(t, "in 2", r.line())
	}
	require.NoError(t, syscall.Kill(s.daemons()[0], syscall.SIGKILL))
	for _, r := range all {
		assert.Equal(t, syscall.SIGKILL, r.wait().ProcessState.Sys().(syscall.WaitStatus).Signal())
	}
}

// TestStaleEnvironments: unusable evidence that a process is one of several is an error with a
// remedy: code 3, one line, and no result, since that would be the result of one of several.
func TestStaleEnvironments(t *testing.T) {
	for name, c := range map[string]struct{ env, want string }{
		"the second program of a task of mpiexec": {"PMI_RANK=1 PMI_SIZE=4 PMI_FD=77", "an earlier program of this task may have used it"},
		"a server of PMI that has gone":           {"PMI_PORT=127.0.0.1:1 PMI_ID=2", "is mpiexec still there"},
		"a shell of srun --mpi=pmix":              {"PMIX_RANK=3 PMIX_NAMESPACE=slurm.pmix.7.0", "nothing says of how many"},
		"a shell below mpirun":                    {"OMPI_COMM_WORLD_RANK=3", "no rank and size"},
		"mpirun, the namespace lost":              {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE"},
		"Slurm, half of it":                       {"SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0", "SLURM_PROCID"},
		"Slurm, copied by hand":                   {"SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NODEID=0 SLURM_STEP_NUM_NODES=1 GOULFM_START_TIMEOUT=1s", "1 of 4 ranks after 1s; missing on"},
		"a rank on another node":                  {"SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NODEID=0 SLURM_STEP_NUM_NODES=2 SLURM_GTIDS=0,1", "srun --mpi=pmi2; or munge on all nodes"},
		"mpirun on several nodes":                 {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=x", "goulfm run --host; or set GOULFM_SECRET_FILE"},
		"a pod of several":                        {"JOB_COMPLETION_INDEX=0 GOULFM_NODES=4 GOULFM_JOB=u GOULFM_SERVICE=heat HOSTNAME=heat-0", "goulfm run"},
		"a pod that does not know its job":        {"JOB_COMPLETION_INDEX=0 GOULFM_NODES=4", "GOULFM_JOB"},
		"GOULFM_ALONE that is neither":            {"GOULFM_ALONE=yes", "1 or 0 is expected"},
		"a launcher of another build":             {"GOULFM_BOOT={}", "rank 0 has another build of goulfm: install the same one on all nodes"},
		"a launcher that has gone":                {boot.Info{}.Env(), "GOULFM_BOOT"},
	} {
		s := newStep(t, 1)
		s.isBare = true
		r := s.start("sum", 0, append(strings.Fields(c.env), "PATH=/nonexistent")...).wait()
		assert.Equal(t, 3, r.code, name)
		assert.Empty(t, r.rest, name)
		assert.Contains(t, r.errs.String(), c.want, name)
		assert.Equal(t, 1, strings.Count(r.errs.String(), "\n"), "%s: %s", name, r.errs)
	}
}

// TestTwoJobsWithOneKey: two processes both claim rank 0. The first one gets the rank; the other
// one receives the reason and a remedy.
func TestTwoJobsWithOneKey(t *testing.T) {
	s := newStep(t, 2)
	first := s.start("sum", 0, "ADOPT_TEST_SAY=waiting")
	assert.Equal(t, "waiting", first.line())
	again := s.start("sum", 0).wait()
	assert.Equal(t, 3, again.code)
	assert.Contains(t, again.errs.String(), "rank 0 is there already")
	assert.Contains(t, again.errs.String(), "GOULFM_ALONE=1")
	second := s.start("sum", 1).wait()
	assert.Zero(t, second.code, second.errs)
	assert.Zero(t, first.wait().code)
	assert.Equal(t, fmt.Sprintf("rank 0 of 2: %d\n", first.Process.Pid+second.Process.Pid), first.rest)
}
