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
	"github.com/goulfm/goulfm/internal/commhooks"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// A Job runs a program as goulfm run does. Ranks that are killed at points of the program may be
// replaced by new ones (comm.Comm.Replace), which call the program again.
//
//	commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: 2, Mark: "step", At: 3}}}.Run(t, program)
type Job struct {
	// N is the number of ranks.
	N int
	// Nodes assigns a simulated node to each of the N ranks, one entry per rank; nil: all are on
	// one. A process that starts later is on the node of rank number mod N.
	Nodes Nodes
	// Room is the highest number of processes, including those with which the job begins. 0: 64
	// more than those.
	Room int
	// NodeMemory gives each node memory that outlives its processes, in which package recovery
	// keeps what ranks protect.
	NodeMemory bool
	// Restarts is the highest number of restarts of the whole job. When all processes have died and
	// none has returned, N new ones run the program from its beginning, on the same nodes and with
	// their memory, if Room allows.
	Restarts int
	// Kills lists the processes that die, each with the point of its death. Each entry applies
	// once.
	Kills []Killed
	// Messages and Limit are as in Config.
	Messages bool
	Limit    time.Duration

	reached *[]Killed // receives the points of the run, for EachKill

	// said and noted observe the calls of Say and Note, for tests; nil: none. Several processes
	// call them at a time.
	said, noted func(proc int, m rankproto.Message)
}

// Killed is a process that dies when its program reaches a point (comm.Comm.Mark).
type Killed struct {
	Rank int    // number of the process: those with which the job begins have that of their rank
	Mark string // name of the point, as the program passes to Mark
	At   int    // number of the point, as the program passes to Mark
	Node bool   // the memory of its node is lost, and its processes die that have not returned
}

// A jobRun is one call of Job.Run.
type jobRun struct {
	*run
	t       testing.TB
	job     Job
	program func(ctx context.Context, w *comm.Comm) error
	ctx     context.Context
	wg      sync.WaitGroup

	memory map[int]*rankstore.Memory // by node; nil: there is none

	mu      sync.Mutex
	started int  // the next number; a restart may leave numbers out
	again   int  // restarts so far
	ended   bool // a process has returned
	batches []*batch
	dead    []bool // by number: killed, or its program has ended
	marks   []Killed
}

// A batch is the processes that one call of Replace or Spawn has requested. They do not begin
// before a requester keeps the batch. A batch is dropped once no requester can keep it any more.
type batch struct {
	ask   rankproto.Spawn
	first int
	root  int
	over  bool
	keep  chan rankproto.Keep // closed without a value when the batch is dropped
}

// Run runs program on j.N ranks and waits until all processes have ended. An error of program fails
// the test and ends its process, unless the error Is comm.ErrFenced, as in a process that was
// killed. A process that has returned from program without an error stays alive until all have. Run
// returns the points that were reached, each process and point once.
func (j Job) Run(t testing.TB, program func(ctx context.Context, w *comm.Comm) error) (reached []Killed) {
	t.Helper()
	if j.Room == 0 {
		j.Room = j.N + 64
	}
	l := Config{Limit: j.Limit}.limits()
	labelled(l.ending, func(ctx context.Context, left func() string) {
		r := &jobRun{run: newRun(j.Room, l), t: t, job: j, program: program, dead: make([]bool, j.Room)}
		r.memory = j.memory()
		r.begin(ctx)
		reached = r.marks
		if j.reached != nil {
			*j.reached = r.marks
		}
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
		defer close(done)
		for r.wg.Wait(); r.restart(); r.wg.Wait() {
			continue
		}
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

// open makes the engine of a process. kept is the message with which its requesters have kept its
// batch; nil: the process was not started by Replace or Spawn.
func (r *jobRun) open(k *rank, together []int, kept *rankproto.Keep) {
	w := world{ranks: r.job.N}
	for number := range r.job.Room {
		if r.job.Nodes != nil {
			w.nodes = append(w.nodes, r.job.nodeOf(number))
		}
	}
	w.settings.Messages = r.job.Messages
	cfg := w.engine(false)
	cfg.World, cfg.Share = together, r.job.N
	host := commhooks.Job{Starter: asker{r, k.me}, Mark: func(name string, n int) { r.mark(k, name, n) }, Memory: r.memoryOf(k.me)}
	if kept != nil {
		cfg.Union = &commstate.Group{Index: commstate.SpawnedIndex, UID: commstate.UID(kept.UID), Procs: kept.Procs, Indices: kept.Indices, Me: slices.Index(kept.Procs, k.me), Fresh: kept.Place.Fresh}
		host.Place = kept.Place
		cfg.UnionUniform, cfg.UnionName, cfg.UnionRepairs = kept.Place.Uniform, kept.Place.Name, kept.Place.Repairs
	}
	made := door.WorldOf(engine.New(r.world.Port(k.me), cfg), host)
	r.mu.Lock()
	k.w = made
	r.mu.Unlock()
	living.Store(k.proc(), k)
}

// liveOn runs one process. The process is not finalized: its engine runs until all processes have
// returned, so that no peer takes the process for dead before.
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
	r.mu.Lock()
	r.ended = r.ended || !r.dead[k.me]
	r.mu.Unlock()
	if err != nil && !errors.Is(err, comm.ErrFenced) {
		r.t.Errorf("process %d: %v", k.me, err)
		k.die()
	}
}

// mark records a point, and kills the process if Kills lists that point.
func (r *jobRun) mark(k *rank, name string, n int) {
	here := Killed{Rank: k.me, Mark: name, At: n}
	r.mu.Lock()
	if !slices.Contains(r.marks, here) {
		r.marks = append(r.marks, here)
	}
	withNode := here
	withNode.Node = true
	node := slices.Contains(r.job.Kills, withNode)
	due := !r.dead[k.me] && (node || slices.Contains(r.job.Kills, here))
	r.dead[k.me] = r.dead[k.me] || due
	r.mu.Unlock()
	if due && node {
		r.loseNode(r.job.nodeOf(k.me))
	}
	if due {
		Kill(k.w)
	}
}

// loseNode kills the processes of a node that have not returned, and replaces the memory of the
// node for processes that start there later.
func (r *jobRun) loseNode(node int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory != nil {
		r.memory[node] = rankstore.Heap(r.job.N)
	}
	for _, k := range r.ranks {
		if k.w != nil && !r.dead[k.me] && r.job.nodeOf(k.me) == node {
			r.dead[k.me] = true
			k.die()
		}
	}
}

// lose notes that the program of a process has ended, and drops the batches that no process can
// keep any more.
func (r *jobRun) lose(k *rank) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead[k.me] = true
	for _, m := range r.memory { // the program of the process runs no more
		m.Release(k.me)
	}
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

// Ask gives processes their numbers. The processes begin when their batch is kept.
func (a asker) Ask(_ context.Context, m rankproto.Spawn, _ func(rankproto.Spawned)) (rankproto.Spawned, error) {
	r := a.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started+m.N > r.job.Room {
		return rankproto.Spawned{Short: true, Why: fmt.Sprintf("%d processes asked for, and %d of %d were there", m.N, r.started, r.job.Room)}, nil
	}
	b := &batch{ask: m, first: r.started, root: a.me, keep: make(chan rankproto.Keep, 1)}
	r.started += m.N
	r.batches = append(r.batches, b)
	r.wg.Go(func() { r.await(b) })
	return rankproto.Spawned{First: b.first, N: m.N}, nil
}

// Note does the same as Say: in a Job no message delays a repair.
func (a asker) Note(m rankproto.Message) {
	if a.r.job.noted != nil {
		a.r.job.noted(a.me, m)
	}
	a.decide(m)
}

// Say receives the decision of a requester on a batch of processes.
func (a asker) Say(m rankproto.Message) {
	if a.r.job.said != nil {
		a.r.job.said(a.me, m)
	}
	a.decide(m)
}

// decide keeps or drops the batch that a message is about.
func (a asker) decide(m rankproto.Message) {
	r := a.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		switch m := m.(type) {
		case rankproto.Keep:
			if b.first == m.First && !b.over {
				b.over = true
				b.keep <- m
			}
		case rankproto.Drop:
			if m.N > 0 && m.First == b.first || m.N == 0 && b.root == m.Root && r.dead[m.Root] && slices.Contains(b.ask.Procs, a.me) {
				b.drop()
			}
		}
	}
}

// await starts the processes of a batch once it is kept.
func (r *jobRun) await(b *batch) {
	said, kept := <-b.keep
	if !kept {
		return
	}
	new := span(b.first, b.first+b.ask.N)
	for _, number := range new {
		r.open(r.ranks[number], new, &said)
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

// nodeOf returns the node of a process.
func (j Job) nodeOf(number int) int {
	if j.Nodes == nil {
		return 0
	}
	return j.Nodes[number%j.N]
}

// memory makes the memory of all nodes.
func (j Job) memory() map[int]*rankstore.Memory {
	if !j.NodeMemory {
		return nil
	}
	all := map[int]*rankstore.Memory{}
	for number := range j.N {
		if node := j.nodeOf(number); all[node] == nil {
			all[node] = rankstore.Heap(j.N)
		}
	}
	return all
}

func (r *jobRun) memoryOf(number int) *rankstore.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory[r.job.nodeOf(number)]
}

// restart starts N new processes if all have died, and Restarts and Room allow that. It reports
// whether it has done so.
func (r *jobRun) restart() bool {
	r.mu.Lock()
	first := (r.started + r.job.N - 1) / r.job.N * r.job.N // so each rank is on the node where it was
	if r.ended || r.again == r.job.Restarts || first+r.job.N > r.job.Room {
		r.mu.Unlock()
		return false
	}
	r.again++
	r.started = first + r.job.N
	r.mu.Unlock()
	new := span(first, first+r.job.N)
	for _, number := range new {
		r.open(r.ranks[number], new, nil)
	}
	for _, number := range new {
		r.wg.Go(func() { r.liveOn(r.ranks[number]) })
	}
	return true
}
