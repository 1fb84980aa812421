package launch

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runningJob starts two ranks that only wait, and ends them with the test.
func runningJob(t *testing.T) *launcher {
	t.Helper()
	spec := &Spec{N: 2, Universe: 8, Program: "sleep", Args: []string{"1000"}, Stdin: "none", Quiet: true, Stdout: io.Discard, Stderr: io.Discard}
	prog, err := findProgram(spec.Program, nil, nil)
	require.NoError(t, err)
	l := newLauncher(spec)
	l.prog = prog
	lives := newLives(spec)
	require.NoError(t, l.hire(t.Context(), lives))
	require.NoError(t, l.startRanks())
	t.Cleanup(func() {
		l.stop(ExitFailed, "the test is over")
		<-l.crew.Ended()
		l.settle()
		l.rep.end(l.verdict(), l.crew.Halted())
		l.close()
		lives.end()
	})
	return l
}

// processes returns the processes of the rules, once the starter has performed its tasks.
func (l *launcher) processes() []job.Process {
	done := make(chan struct{})
	l.crew.OnStarter(func() { close(done) })
	<-done
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Rules.Processes()
}

// TestSpawnOfTheDead: a process requests two processes and is found dead before the launcher serves
// the request. The launcher starts nothing, and the job can still end.
func TestSpawnOfTheDead(t *testing.T) {
	l := runningJob(t)
	l.Found(0, job.ByTombstone, false, 1)
	l.spawn(0, rankproto.Spawn{Token: 1, N: 2, Procs: []int{0, 1}, Args: []string{"1000"}})
	assert.Len(t, l.processes(), 2)
}

// TestSpecR59UnwantedWhileStarted: the root dies and the other member drops the processes of its
// request: all of them are ended.
func TestSpecR59UnwantedWhileStarted(t *testing.T) {
	l := runningJob(t)
	l.spawn(0, rankproto.Spawn{Token: 1, N: 2, Procs: []int{0, 1}, Args: []string{"1000"}})
	require.Len(t, l.processes(), 4)
	l.Found(0, job.ByTombstone, false, 1)
	require.NoError(t, l.Said(1, rankproto.Received{Message: rankproto.Drop{Root: 0}}))
	for _, p := range l.processes() {
		assert.Equal(t, p.Slot >= 2, p.Dropped, "process %d", p.Slot)
	}
}

// TestSpawnOfWhatIsNoProgram: the root gets the error, and nobody waits for processes that are not
// started.
func TestSpawnOfWhatIsNoProgram(t *testing.T) {
	l := runningJob(t)
	l.spawn(0, rankproto.Spawn{Token: 1, N: 2, Program: "/no/such/program", Procs: []int{0, 1}})
	l.crew.OnStarter(func() { // the map belongs to the starter
		l.programs["/"] = &program{path: "/", name: "/"} // found, and cannot be executed
	})
	l.spawn(0, rankproto.Spawn{Token: 2, N: 2, Program: "/", Procs: []int{0, 1}})
	assert.Len(t, l.processes(), 2)
	assert.True(t, l.crew.Expect(1))
	l.crew.Unexpect(1)
}

// TestJoinedTwice: a process that joins twice loses its lifeline.
func TestJoinedTwice(t *testing.T) {
	l := runningJob(t)
	require.NoError(t, l.Said(0, rankproto.Received{Message: rankproto.Joined{}}))
	assert.ErrorIs(t, l.Said(0, rankproto.Received{Message: rankproto.Joined{}}), rankproto.ErrMessage)
}

// TestTimeoutIsOfRanks: the timeout is for ranks and the processes that they leave behind, not for
// people who read output later.
func TestTimeoutIsOfRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLauncher(&Spec{Timeout: time.Second, Stderr: io.Discard})
		l.schedule()
		close(l.quiet)
		time.Sleep(time.Minute)
		assert.False(t, l.Rules.Ending())
		l.rep.end(l.verdict(), nil)
	})
}
