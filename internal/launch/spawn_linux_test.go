package launch

import (
	"io"
	"testing"

	"github.com/goulfm/goulfm/internal/boot"
)

// runningJob starts two ranks that only wait, and ends them with the test.
func runningJob(t *testing.T) *job {
	t.Helper()
	spec := &Spec{N: 2, Universe: 8, Program: "sleep", Args: []string{"1000"}, Stdin: "none", Quiet: true, Stdout: io.Discard, Stderr: io.Discard}
	prog, err := findProgram(spec.Program, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(spec)
	j.prog = prog
	j.spawner.begin()
	if err := j.launch(prog); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.stop(ExitFailed, "the test is over")
		<-j.ended
		j.settle()
		j.rep.end(j.verdict(), j.hurry)
		j.closeMemory()
	})
	return j
}

// TestSpecR59UnwantedBeforeItIsStarted: the root asks for two processes and dies, and the
// other member says that it does not want them before the launcher has begun with them.
//
//	root: spawn 2      launcher: hears it
//	root: dies         launcher: declares it dead
//	other: drop        launcher: nothing to end                 (asked)
//	                   launcher: reserves numbers, starts two
//
// or, with the numbers reserved at once, the drop comes before the processes (reserved).
// Nobody would ever tell them to go on or to end.
func TestSpecR59UnwantedBeforeItIsStarted(t *testing.T) {
	ask := boot.Message{What: boot.SaysSpawn, Token: 1, N: 2, Procs: []int{0, 1}, Args: []string{"1000"}}
	drop := boot.Message{What: boot.SaysDrop, Rank: 0}
	unwanted := func(j *job) {
		j.depart(0, "reaping")
		j.mu.Lock()
		defer j.mu.Unlock()
		j.unwanted(drop)
	}
	t.Run("asked", func(t *testing.T) {
		j := runningJob(t)
		root := j.ranks[0]
		unwanted(j)
		j.spawnMore(root, ask)
		begun := make(chan struct{})
		j.spawner.do(func() { close(begun) })
		<-begun
		j.mu.Lock()
		defer j.mu.Unlock()
		if len(j.ranks) != 2 || len(j.batches) != 0 || j.starting != 0 || j.node.Started() != 2 {
			t.Errorf("%d processes, %d batches, %d being started, %d numbers given, want 2, 0, 0, 2", len(j.ranks), len(j.batches), j.starting, j.node.Started())
		}
	})
	t.Run("reserved", func(t *testing.T) {
		j := runningJob(t)
		b, err := j.reserve(&batch{root: 0, token: 1}, ask)
		if err != nil {
			t.Fatal(err)
		}
		unwanted(j)
		done := make(chan error)
		j.spawner.do(func() { done <- j.startBatch(b, j.prog, ask) })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		for _, r := range j.ranks {
			if r.dropped != b.has(r.number) {
				t.Errorf("process %d is ended: %v", r.number, r.dropped)
			}
		}
		if len(j.ranks) != 4 || len(j.batches) != 0 || j.starting != 0 {
			t.Errorf("%d processes, %d batches, %d being started, want 4, 0, 0", len(j.ranks), len(j.batches), j.starting)
		}
	})
}
