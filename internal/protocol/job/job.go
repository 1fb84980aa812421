package job

import (
	"cmp"
	"fmt"
)

// Config is the configuration of the rules.
type Config struct {
	Ranks   int  // with which the job begins: processes 0 to Ranks-1
	Procs   int  // number of slots: the limit of processes at a time, including those that ranks start
	Ring    bool // deaths are found by heartbeats between ranks, not by tombstones
	Fence   bool // a process that shows no life is declared dead and may run on
	Survive Survive
	Nodes   []int // by slot: its node; nil: there is one
	Spares  int   // number of processes that wait for a rank to replace
	// Limited: at most Respawn processes are started to replace others, or in place of spares that
	// were used.
	Limited bool
	Respawn int
}

// slotBits are the bits of a process's number that are its slot. The others are its generation: the
// number of processes that had the slot before. A number is never used twice.
const slotBits = 16

// A Process is the record of one process.
type Process struct {
	Slot       int
	Generation int
	Present    bool // was started; otherwise still to be started
	Joined     bool // is in Init, or was
	Declared   bool // its end was found
	Left       bool // was through Finalize then
	Reaped     bool
	Heard      bool // reaped, and all of its messages were read
	Fenced     bool // has learned that it was declared dead
	Silenced   bool // showed no life, and was killed or declared dead for that
	Dropped    bool // a Spawn that failed had started it, or it was a spare
	Spare      bool // waits for a rank to replace, or has ended without one
	Aborted    int  // the code of its Abort of some processes; 0: none
	Inits      int  // calls of Init, if Finalize was called and less often; else 0
	Finalizes  int  // calls of Finalize then
	Order      int  // ranks that began before this process became one
	Later      int  // the same number when the end of this process was found
	Status     Status
	By         Evidence
	FoundNs    int64
	KilledNs   int64  // time of a planned kill, 0: none
	Planned    string // in the words of the plan
}

// Rules are the rules about the processes of one job. Their single responsibility is to turn events
// of processes into starts, kills, notices and, in the end, the exit code of the job.
type Rules struct {
	cfg     Config
	procs   []Process // by slot
	past    tally     // of processes whose slot another process has now
	batches []*batch  // that have not been forgotten
	spares  spares
	joined  int  // of the first ranks
	begun   int  // processes that became ranks
	ending  bool // a request has ended the job
	code    int  // exit code in that case
	why     string

	unjoined string // the first reason why a process could not join

	out []Action
}

// New returns the rules of a job whose ranks are about to be started.
func New(cfg Config) *Rules {
	r := &Rules{cfg: cfg}
	for number := range cfg.Ranks {
		r.procs = append(r.procs, Process{Slot: number})
	}
	return r
}

// Step applies an event and returns the actions to take. The slice is valid until the next Step.
func (r *Rules) Step(ev Event) []Action {
	r.out = r.out[:0]
	switch ev := ev.(type) {
	case Wanted:
		r.want(ev)
	case Kept:
		r.keep(ev)
	case Unwanted:
		r.dropUnwanted(ev)
	case SpareRoom:
		r.addSpare(ev)
	case Unjoined:
		r.unjoined = cmp.Or(r.unjoined, ev.Why)
	case Roomier:
		r.refill(false)
	case Stopped:
		r.stop(ev.Code, ev.Why)
	case Interrupted:
		r.end(ev.Code, ev.Why)
	default:
		r.stepProcess(ev)
	}
	return r.out
}

// stepProcess applies an event about one process.
func (r *Rules) stepProcess(ev Event) {
	switch ev := ev.(type) {
	case Forked:
		r.fork(ev)
	case NotStarted:
		r.abandon(ev)
	case Joined:
		r.join(ev)
	case Found:
		r.find(ev)
	case Reaped:
		r.reap(ev)
	case Heard:
		r.hear(ev)
	case KillDue:
		r.killAsPlanned(ev)
	case Killing:
		if p := r.proc(ev.Proc); p != nil {
			p.KilledNs, p.Planned = ev.AtNs, ev.Planned
		}
	case Aborted:
		r.abort(ev)
	case Finalizes:
		if p := r.proc(ev.Proc); p != nil {
			p.Inits, p.Finalizes = ev.Inits, ev.Finalizes
		}
	case Fenced:
		if p := r.proc(ev.Proc); p != nil {
			p.Fenced = true
		}
	case Silent:
		r.endSilent(ev)
	case NoLife:
		r.endLifeless(ev)
	}
}

func (r *Rules) do(a Action) { r.out = append(r.out, a) }

// Number is the number of the process in the job.
func (p Process) Number() int { return NumberOf(p.Slot, p.Generation) }

// NumberOf returns the number of the process in a slot that generation processes had before.
func NumberOf(slot, generation int) int { return generation<<slotBits | slot }

// SlotOf returns the slot of a process.
func SlotOf(number int) int { return number & (1<<slotBits - 1) }

// GenerationOf returns the number of processes that had the slot of a process before.
func GenerationOf(number int) int { return number >> slotBits }

// proc returns the record of the process with a number, or nil: it was never requested, or another
// process has its slot by now. So a late event about an earlier process changes nothing.
func (r *Rules) proc(number int) *Process {
	slot := SlotOf(number)
	if number < 0 || slot >= len(r.procs) || r.procs[slot].Number() != number {
		return nil
	}
	return &r.procs[slot]
}

// Process returns the record of the process with a number. False: it was never requested, or
// another process has its slot by now.
func (r *Rules) Process(number int) (Process, bool) {
	if p := r.proc(number); p != nil {
		return *p, true
	}
	return Process{}, false
}

// Occupant returns the process that has a slot now; false: no process ever had it.
func (r *Rules) Occupant(slot int) (Process, bool) {
	if slot < 0 || slot >= len(r.procs) {
		return Process{}, false
	}
	return r.procs[slot], true
}

// Processes returns the records of all processes that were started and have a slot, by slot, except
// spares.
func (r *Rules) Processes() (all []Process) {
	for _, p := range r.procs {
		if p.Present && !p.Spare {
			all = append(all, p)
		}
	}
	return all
}

// Survivors counts the processes that have not died. Those that have left count, because they
// report their knowledge up to their end.
func (r *Rules) Survivors() int { return r.countSurvivors(func(Process) bool { return true }) }

// SurvivorsOf returns the number of survivors that were ranks when the end of a process was found.
// Its replacement is none of them.
func (r *Rules) SurvivorsOf(number int) int {
	dead := r.proc(number)
	return r.countSurvivors(func(p Process) bool { return dead == nil || !dead.Declared || p.Order < dead.Later })
}

// SurvivorsOfWorld returns the number of survivors among the ranks with which the job began.
func (r *Rules) SurvivorsOfWorld() int { return r.countSurvivors(r.cfg.beginsWith) }

func (r *Rules) countSurvivors(counts func(Process) bool) (n int) {
	for _, p := range r.procs {
		if p.Present && !p.Spare && (!p.Declared || p.Left) && counts(p) {
			n++
		}
	}
	return n
}

// beginsWith reports whether p is one of the ranks with which the job begins.
func (c *Config) beginsWith(p Process) bool { return p.Slot < c.Ranks && p.Generation == 0 }

// becomesRank notes that p is a rank from now on.
func (r *Rules) becomesRank(p *Process) {
	p.Order = r.begun
	r.begun++
}

// Ending reports whether the job was requested to end.
func (r *Rules) Ending() bool { return r.ending }

func (r *Rules) fork(ev Forked) {
	p := r.proc(ev.Proc)
	if p == nil {
		return
	}
	p.Present = true
	if p.Spare {
		r.forkSpare(p)
		return
	}
	r.becomesRank(p)
	if b := r.batchOf(p.Slot); b != nil {
		r.startedOne(b, p)
	}
}

func (r *Rules) join(ev Joined) {
	p := r.proc(ev.Proc)
	if p == nil || p.Joined {
		return
	}
	p.Joined = true
	if p.Spare {
		r.awaitTurn(p.Slot)
		return
	}
	if r.cfg.beginsWith(*p) {
		if r.joined++; r.joined == r.cfg.Ranks {
			r.do(AllJoined{})
			r.refill(false)
		}
	}
	r.countInInit(p.Slot)
}

// find notes an end that the others have to learn. With the ring detector a death is declared only
// after a process has found it silent, so that the ring detects the deaths.
func (r *Rules) find(ev Found) {
	p := r.proc(ev.Proc)
	if p == nil || p.Declared {
		return
	}
	p.Declared, p.Left, p.By, p.FoundNs = true, ev.Left, ev.By, ev.AtNs
	p.Later = r.begun
	if !r.cfg.Ring || p.Left || p.Silenced && !r.cfg.Fence {
		r.do(Declare{p.Number(), p.Left})
	}
	if ev.By == BySilence { // the rules do not wait for it: its later messages do not count
		r.lose(p)
	}
	r.settleAll()
}

// reap notes that nothing of a process runs any more.
//
// With Fence a process may have been declared dead before it died. The wake-up of all that follows
// a declaration does not repair a wake-up that the process leaves undone later:
//
//	the process                    others                        a sleeper
//	                               declare it dead, wake all     polls, flag up, sleeps
//	takes the sleeper's flag down
//	dies, wakes nobody
//	                               find no flag, wake nobody     sleeps on
func (r *Rules) reap(ev Reaped) {
	p := r.proc(ev.Proc)
	if p == nil || p.Reaped {
		return
	}
	p.Present, p.Reaped, p.Status = true, true, ev.Status
	if r.cfg.Fence && !p.Left {
		r.do(WakeAll{})
	}
	r.endFenced()
}

// hear judges the end of a process, after all of its messages were read: it may have reported that
// it keeps a batch, or the point at which it would end itself.
//
//	rank: keep, Finalize, exits      launcher: its tombstone, reaped
//	                                           reads "keep"
//
// If the end were judged before the last step, a batch that all members have kept would have no
// process left to keep it.
func (r *Rules) hear(ev Heard) {
	p := r.proc(ev.Proc)
	if p == nil || p.Heard {
		return
	}
	p.Heard = true
	if p.Spare {
		r.loseSpare(p)
	}
	r.lose(p)
	r.dismissIfOver()
	r.refill(false)
	strangers := r.joined == 0
	if !p.lost(strangers) {
		return
	}
	if !p.Left {
		r.do(Lost{p.Number()})
	}
	if r.cfg.Survive == SurviveNone {
		r.stop(codeOfLoss(*p, strangers), fmt.Sprintf("rank %d: %s (--survive none)", p.Number(), p.Fate()))
	}
}

func (r *Rules) killAsPlanned(ev KillDue) {
	p := r.proc(ev.Proc)
	if p == nil || !p.Present || p.Reaped || p.Declared {
		return
	}
	p.KilledNs, p.Planned = ev.AtNs, ev.Planned
	r.do(Kill{p.Number()})
}

// abort ends the whole job, or the processes that the event names: the members of a
// communicator.
func (r *Rules) abort(ev Aborted) {
	p := r.proc(ev.Proc)
	switch {
	case p == nil:
	case len(ev.Others) == 0:
		r.stop(ev.Code, fmt.Sprintf("Abort(%d) of rank %d", ev.Code, p.Number()))
	default:
		p.Aborted = ev.Code
		for _, number := range ev.Others {
			r.kill(r.proc(number))
		}
	}
}

// kill ends a running process.
func (r *Rules) kill(p *Process) {
	if p != nil && p.Present && !p.Reaped {
		r.do(Kill{p.Number()})
	}
}

// end notes the code and the reason of the job's end, if nothing has ended it before.
func (r *Rules) end(code int, why string) {
	if !r.ending {
		r.ending, r.code, r.why = true, code, why
	}
}

func (r *Rules) stop(code int, why string) {
	r.end(code, why)
	r.do(KillAll{})
}
