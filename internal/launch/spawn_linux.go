package launch

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/park"
)

// A batch is what one call of Spawn has started: processes with consecutive numbers,
// who wait in Init until one of those who started them says that all of them agree.
//
//	root: spawn ...                      launcher: starts them, answers with the first number
//	root and the others agree: all have the communicator, or none
//	each of them: keep ... or drop       launcher: passes the first keep on, or ends the batch
//
// Whoever of them lives says so; if none is left the batch ends, too.
type batch struct {
	first, count int
	root         int
	parents      []int // those that could keep it

	token  uint64 // of the root's request
	short  string // of what there was too little
	joined int    // are in Init
	told   bool   // the root has its answer
	over   bool   // nobody keeps it: also those that are only now being started
}

func (b *batch) has(number int) bool { return number >= b.first && number < b.first+b.count }

// A spawner starts processes while others run. Its thread lives as long as the
// launcher: the parent-death signal of what it starts is bound to it.
type spawner struct {
	requests chan func()
}

// begin makes the thread. It comes before calmMonitor: a thread that the calm monitor makes
// has its policy, and so would have the ranks that it starts, for as long as they live.
func (s *spawner) begin() {
	s.requests = make(chan func())
	go func() {
		runtime.LockOSThread() // never unlocked
		for f := range s.requests {
			f()
		}
	}()
	s.do(func() {}) // it is there
}

func (s *spawner) do(f func()) { s.requests <- f }

// spawnMore starts what rank r asks for. The answer comes when all are in Init, or one
// cannot be.
func (j *job) spawnMore(r *rank, m boot.Message) {
	j.spawner.do(func() {
		b, err := &batch{root: r.number, token: m.Token}, error(nil)
		if prog, e := j.programOf(m); e != nil {
			err = e
		} else if b, err = j.reserve(b, m); err == nil {
			err = j.startBatch(b, prog, m)
		}
		if err != nil {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.tellRoot(b, err.Error())
		}
	})
}

// tellRoot answers who asked for a batch. The caller holds mu.
func (j *job) tellRoot(b *batch, why string) {
	if root := j.rankOf(b.root); root != nil && !b.told {
		root.say(boot.Message{What: boot.SaysSpawned, Token: b.token, First: b.first, N: b.count, Text: why, Name: b.short})
	}
	b.told = true
}

func (j *job) batchOf(number int) *batch {
	if i := slices.IndexFunc(j.batches, func(b *batch) bool { return b.has(number) }); i >= 0 {
		return j.batches[i]
	}
	return nil
}

// inInit notes that a process of a batch is in Init. The caller holds mu.
func (j *job) inInit(number int) {
	if b := j.batchOf(number); b != nil {
		if b.joined++; b.joined == b.count {
			j.tellRoot(b, "")
		}
	}
}

// lost notes that a process has ended and all that it said was heard. It may be one of a
// batch, or the last one that could keep a batch. The caller holds mu.
func (j *job) lost(number int) {
	if b := j.batchOf(number); b != nil && !b.told {
		j.tellRoot(b, fmt.Sprintf("process %d ended before it was in Init: is it a goulfm program?", number))
		j.drop(b)
	}
	for _, b := range slices.Clone(j.batches) {
		gone := func(number int) bool { r := j.rankOf(number); return r == nil || r.heard || r.silenced && j.spec.Fence }
		if !slices.ContainsFunc(b.parents, func(number int) bool { return !gone(number) }) {
			j.drop(b)
		}
	}
}

func (j *job) startBatch(b *batch, prog *program, m boot.Message) error {
	for i := range b.count {
		err := j.spawn(prog, placement{rank: i, size: b.count, first: b.first, spawned: true, args: m.Args, env: m.Env})
		j.mu.Lock()
		j.starting--
		if b.over {
			j.drop(b)
		}
		j.mu.Unlock()
		if err != nil {
			j.abandon(b, b.count-i-1)
			return fmt.Errorf("start process %d: %w", b.first+i, err)
		}
	}
	j.forked.Broadcast()
	for lo := b.first; lo < b.first+b.count; lo += park.AnyMax {
		go j.watchSome(lo, min(lo+park.AnyMax, b.first+b.count))
	}
	j.rep.spawned(b.first, b.count, prog.name, b.root)
	return nil
}

// programOf returns what to execute: the program of the job if m names none.
func (j *job) programOf(m boot.Message) (*program, error) {
	name := m.Program
	if name == "" || name == j.spec.Program {
		return j.prog, nil
	}
	j.mu.Lock()
	p := j.programs[name]
	j.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := findProgram(name, j.runBuild)
	if err == nil {
		j.mu.Lock()
		j.programs[name] = p
		j.mu.Unlock()
	}
	return p, err
}

// reserve gives a batch its numbers.
func (j *job) reserve(b *batch, m boot.Message) (*batch, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, root := j.node.Started(), j.rankOf(b.root)
	switch left := j.node.Procs() - first; {
	case root == nil || root.declared:
		// The others may have said already that they do not want it, when there was nothing
		// to end: it would wait for ever.
		return b, fmt.Errorf("process %d, which asked for them, has died", b.root)
	case j.ending || j.over:
		return b, errOver
	case m.N > left:
		b.short = boot.ShortOfMemory
		return b, fmt.Errorf("%d processes asked for, and of the %d that the job can ever have %d were started: give it more with goulfm run --universe N", m.N, j.node.Procs(), first)
	}
	b.first, b.count, b.parents = first, m.N, m.Procs
	j.batches = append(j.batches, b)
	j.starting += m.N
	j.node.SetStarted(first + m.N)
	return b, nil
}

// abandon ends a batch of which one process could not be started; the last missing
// ones have not been tried. Who was never started is as good as dead: nobody waits for
// it.
func (j *job) abandon(b *batch, missing int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.starting -= missing
	j.forked.Broadcast()
	j.drop(b)
}

// drop ends a batch that nobody keeps. The caller holds mu.
func (j *job) drop(b *batch) {
	b.over = true
	for _, r := range j.ranks {
		if !b.has(r.number) {
			continue
		}
		r.dropped = true
		if !r.reaped {
			_ = syscall.Kill(r.pid, syscall.SIGKILL)
		}
	}
	j.forgetBatch(b)
}

func (j *job) forgetBatch(b *batch) {
	j.batches = slices.DeleteFunc(j.batches, func(x *batch) bool { return x == b })
}

// keep passes on that those who started a batch agree.
func (j *job) keep(m boot.Message) {
	b := j.batchOf(m.First)
	if b == nil { // another one has said so
		return
	}
	for _, r := range j.ranks {
		if b.has(r.number) {
			r.say(m)
		}
	}
	j.forgetBatch(b)
}

// unwanted ends what a failed Spawn leaves: the batch that its root names, or, where
// the root died and could not tell its number, those that nobody else can keep.
func (j *job) unwanted(m boot.Message) {
	root := j.rankOf(m.Rank)
	for _, b := range slices.Clone(j.batches) {
		named := m.First > 0 && b.first == m.First
		unnamed := m.First == 0 && b.root == m.Rank && root != nil && root.declared
		if named || unnamed {
			j.drop(b)
		}
	}
}

// say sends a message to a rank. The caller holds mu.
func (r *rank) say(m boot.Message) {
	line, err := m.Encode()
	if err != nil || r.reaped {
		return
	}
	_ = r.line.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = r.line.Write(line)
}

// closeMemory lets go of what only new processes need.
func (j *job) closeMemory() {
	for _, f := range j.memory {
		f.Close()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.programs {
		p.close()
	}
}
