package commtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/bridge"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/lifeline"
	"github.com/goulfm/goulfm/internal/member"
)

// A Job runs a program as goulfm run does: ranks that are killed at points of the program may be
// replaced by new ones (comm.Comm.Replace), which call the program again.
//
//	commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: 2, Mark: "step", At: 3}}}.Run(t, program)
type Job struct {
	// N is the number of ranks.
	N int
	// Room is how many processes there can be in all, those with which the job begins included.
	// 0: 64 more than those.
	Room int
	// Kills says which of them die, and where. Each does once.
	Kills []Killed
	// Messages and Limit are as in Config.
	Messages bool
	Limit    time.Duration
}

// Killed is a process that dies when its program reaches a point (comm.Comm.Mark).
type Killed struct {
	Rank int // number of the process: those with which the job begins have that of their rank
	Mark string
	At   int
}

// A jobRun is one call of Job.Run.
type jobRun struct {
	*run
	t       testing.TB
	job     Job
	program func(ctx context.Context, w *comm.Comm) error
	ctx     context.Context
	wg      sync.WaitGroup

	mu      sync.Mutex
	started int // processes that have a number
	batches []*batch
	dead    []bool // by number
	marks   []Killed
}

// A batch is what one call of Replace or Spawn has started: it waits until somebody of those who
// did keeps it, or until that is out of question.
type batch struct {
	ask   lifeline.Spawn
	first int
	root  int
	over  bool
	keep  chan lifeline.Keep // closed without one: nobody wants it
}

// Run runs program on j.N ranks and waits until all processes have ended. An error of program, but
// for that of a process that was killed, fails the test, and its process dies; one that has returned stays
// until all have. It returns the points
// that were reached, each process and point once.
func (j Job) Run(t testing.TB, program func(ctx context.Context, w *comm.Comm) error) (reached []Killed) {
	t.Helper()
	if j.Room == 0 {
		j.Room = j.N + 64
	}
	l := Config{Limit: j.Limit}.limits()
	labelled(l.ending, func(ctx context.Context, left func() string) {
		r := &jobRun{run: newRun(j.Room, l), t: t, job: j, program: program, dead: make([]bool, j.Room)}
		r.begin(ctx)
		reached = r.marks
		if stacks := left(); stacks != "" {
			t.Errorf("goroutines left behind:\n%s", stacks)
		}
	})
	return reached
}

func (r *jobRun) begin(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx, r.started = ctx, r.job.N
	for _, k := range r.ranks[:r.job.N] {
		r.open(k, span(0, r.job.N), nil)
	}
	for _, k := range r.ranks[:r.job.N] {
		r.wg.Go(func() { r.liveOn(k) })
	}
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(r.limits.run):
		r.mu.Lock()
		here := slices.DeleteFunc(slices.Clone(r.ranks), func(k *rank) bool { return k.w == nil })
		r.mu.Unlock()
		late := &run{limits: r.limits, world: r.world, ranks: here}
		r.t.Errorf("some ranks have not ended in time\n%s", late.waits())
		cancel()
		late.releaseAll(done)
	}
	for _, k := range r.ranks {
		if k.w != nil {
			living.Delete(k.proc())
			k.proc().Close()
		}
	}
}

// open makes the engine of a process. keep is what those say who have started it; nil: nobody has.
func (r *jobRun) open(k *rank, together []int, keep *lifeline.Keep) {
	w := world{ranks: r.job.N}
	w.settings.Messages = r.job.Messages
	cfg := w.engine(false)
	cfg.World, cfg.Share = together, r.job.N
	host := bridge.Job{Starter: asker{r, k.me}, Mark: func(name string, n int) { r.mark(k, name, n) }}
	if keep != nil {
		cfg.Union = &member.Group{Index: member.SpawnedIndex, UID: member.UID(keep.UID), Procs: keep.Procs, Indices: keep.Indices, Me: slices.Index(keep.Procs, k.me), Fresh: keep.Place.Fresh}
		host.Place = keep.Place
		cfg.UnionUniform, cfg.UnionName, cfg.UnionRepairs = keep.Place.Uniform, keep.Place.Name, keep.Place.Repairs
	}
	made := door.WorldOf(engine.New(r.world.Port(k.me), cfg), host)
	r.mu.Lock()
	k.w = made
	r.mu.Unlock()
	living.Store(k.proc(), k)
}

// liveOn is the life of a process. It is not finalized: its engine goes on until all have returned,
// so that nobody takes it for dead before.
func (r *jobRun) liveOn(k *rank) {
	defer r.lose(k)
	returned := false
	defer func() {
		v := recover()
		if returned || k.proc().Fenced() && v == nil {
			return
		}
		r.t.Errorf("process %d has not returned from its program: %v\n%s", k.me, v, debug.Stack())
		k.die()
	}()
	err := r.program(r.ctx, k.w)
	returned = true
	if err != nil && !errors.Is(err, comm.ErrFenced) {
		r.t.Errorf("process %d: %v", k.me, err)
		k.die()
	}
}

// mark ends a process at a point, if it is to die there.
func (r *jobRun) mark(k *rank, name string, n int) {
	here := Killed{k.me, name, n}
	r.mu.Lock()
	if !slices.Contains(r.marks, here) {
		r.marks = append(r.marks, here)
	}
	due := !r.dead[k.me] && slices.Contains(r.job.Kills, here)
	r.dead[k.me] = r.dead[k.me] || due
	r.mu.Unlock()
	if due {
		Kill(k.w)
	}
}

// lose notes that a process has ended, and gives up what it alone could keep.
func (r *jobRun) lose(k *rank) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead[k.me] = true
	for _, b := range r.batches {
		if !slices.ContainsFunc(b.ask.Procs, func(proc int) bool { return !r.dead[proc] }) {
			b.drop()
		}
	}
}

func (b *batch) drop() {
	if !b.over {
		b.over = true
		close(b.keep)
	}
}

// asker is the launcher as one process sees it.
type asker struct {
	r  *jobRun
	me int
}

// Ask gives processes their numbers; they begin when they are kept.
func (a asker) Ask(_ context.Context, m lifeline.Spawn, _ func(lifeline.Spawned)) (lifeline.Spawned, error) {
	r := a.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started+m.N > r.job.Room {
		return lifeline.Spawned{Short: true, Why: fmt.Sprintf("%d processes asked for, and %d of %d were there", m.N, r.started, r.job.Room)}, nil
	}
	b := &batch{ask: m, first: r.started, root: a.me, keep: make(chan lifeline.Keep, 1)}
	r.started += m.N
	r.batches = append(r.batches, b)
	r.wg.Go(func() { r.await(b) })
	return lifeline.Spawned{First: b.first, N: m.N}, nil
}

// Say hears whether processes are wanted.
func (a asker) Say(m lifeline.Message) {
	r := a.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		switch m := m.(type) {
		case lifeline.Keep:
			if b.first == m.First && !b.over {
				b.over = true
				b.keep <- m
			}
		case lifeline.Drop:
			if m.First == b.first || m.First == 0 && b.root == m.Root && r.dead[m.Root] {
				b.drop()
			}
		}
	}
}

// await begins the processes of a batch, if it is kept.
func (r *jobRun) await(b *batch) {
	keep, kept := <-b.keep
	if !kept {
		return
	}
	new := span(b.first, b.first+b.ask.N)
	for _, number := range new {
		r.open(r.ranks[number], new, &keep)
	}
	for _, number := range new {
		r.wg.Go(func() { r.liveOn(r.ranks[number]) })
	}
}

func span(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}
