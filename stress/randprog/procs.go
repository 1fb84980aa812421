package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// beRank runs a rank of a round of processes.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) (err error) {
		defer func() {
			if v := recover(); v == any(errDoomed) {
				err = errDoomed
			} else if v != nil {
				panic(v)
			}
		}()
		return playProcess(ctx, o, w)
	}))
	return true
}

func playProcess(ctx context.Context, o options, w *comm.Comm) error {
	r := draw(o.seed, o.mode, o.points)
	proc := w.Group().Processes()[w.Rank()]
	log, err := openJournal(o.log, proc)
	if err != nil {
		return err
	}
	if w.Spawned() {
		r.doomSpawned(proc)
	}
	m := newMachine(r, o.operations(), w, log, r.fateOf(proc, endProcess(o.log)))
	if r.exact {
		m.args = os.Args[1:]
	}
	if w.Parent() != nil {
		err = m.join(ctx)
	} else {
		err = m.play(ctx)
	}
	return err
}

// doomSpawned may plan a death for a spawned process.
func (r *round) doomSpawned(proc int) {
	if rng := stream(r.seed, 9, uint64(proc)); len(r.dooms) > 0 && one(rng, 4) {
		r.dooms[proc] = doom{kind: doomKill, step: rng.IntN(6), after: instant(rng)}
	}
}

// A stage is the environment of rounds of processes.
type stage struct {
	place   *trial.Place
	o       *options
	self    string // the program of the ranks
	pointed string // the same with kill points
	dir     string // of the logs
	taskset string
}

func openStage(o *options) (*stage, error) {
	p, err := trial.Open("randprog", o.goulfm, o.timeout)
	if err != nil {
		return nil, err
	}
	st := &stage{place: p, o: o, self: p.Self}
	st.taskset, _ = exec.LookPath("taskset")
	if st.dir, err = os.MkdirTemp("", "randprog-log"); err != nil {
		return nil, err
	}
	if o.points {
		if st.pointed, err = p.BuildTagged("stress/randprog", "failpoints"); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func (st *stage) close() {
	st.place.Close()
	os.RemoveAll(st.dir)
}

// run runs a round with processes.
func (st *stage) run(r *round) *result {
	dir := filepath.Join(st.dir, strconv.FormatUint(r.seed, 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return &result{r: r, bad: err.Error()}
	}
	defer os.RemoveAll(dir)
	if r.load {
		defer spin()()
	}
	wakes := newWaker(dir)
	defer wakes.close()

	flags := slices.Clone(r.launch)
	for _, e := range r.env {
		flags = append(flags, "-x", e)
	}
	args := []string{"-rank", "-log", dir, "-seed", strconv.FormatUint(r.seed, 10), "-mode", st.o.mode, "-only", st.o.only, "-without", st.o.without}
	st.place.Self = st.self
	if st.o.points {
		args = append(args, "-failpoints")
	}
	if r.points {
		st.place.Self = st.pointed
	}
	st.place.Before = nil
	if r.onecpu && st.taskset != "" {
		st.place.Before = []string{st.taskset, "-c", strconv.Itoa(int(r.seed % 2))}
	}
	res := st.place.Run(r.n, flags, args)
	all, err := readLogs(dir)
	if err != nil {
		return &result{r: r, bad: err.Error()}
	}
	return &result{r: r, logs: all, dead: deadOf(&res), took: res.Took, bad: judgeJob(r, all, &res), transcript: res.Transcript()}
}

// deadOf returns the processes that the launcher has reported dead.
func deadOf(res *trial.Result) map[int]bool {
	dead := map[int]bool{}
	for _, kind := range []string{"death", "detection"} {
		for _, ev := range res.Events(kind) {
			dead[ev.Rank] = true
		}
	}
	return dead
}

// onEndedNode reports whether a process runs on the node that is killed, stopped or cut off.
func (r *round) onEndedNode(proc int) bool {
	return r.ended && r.nodes != nil && r.nodeOf(proc) == r.node
}

// nodeOf returns the node of a process. The low bits of its number are the slot, which an ended
// process may have had before, and the high bits the generation of this slot.
//
//	launcher                          ranks
//	kills node 0 with process 14
//	starts process 65550 in slot 14
//	                                  SplitNode: an index of 65550 into the nodes of 28 slots
func (r *round) nodeOf(proc int) int {
	if slot := proc & (1<<16 - 1); slot < len(r.nodes) {
		return r.nodes[slot]
	}
	return 0
}

// judgeJob checks a job independently of the ranks' own checks, and returns the first fault, or "".
func judgeJob(r *round, all logs, res *trial.Result) string {
	dead := deadOf(res)
	switch {
	case res.Hung && len(res.Left) > 0:
		return "hung, and left behind: " + strings.Join(res.Left, ", ")
	case res.Hung:
		return "hung"
	case len(res.Left) > 0:
		return "left behind: " + strings.Join(res.Left, ", ")
	}
	if bad := r.judgeCode(res.Err, all, dead); bad != "" {
		return bad
	}
	for _, ev := range res.Deaths() {
		if _, planned := r.dooms[ev.Rank]; !planned && !r.onEndedNode(ev.Rank) && !r.silence && !all.says(ev.Rank, recDie) {
			return fmt.Sprintf("process %d is lost, which nobody planned: %s", ev.Rank, ev.Cause)
		}
	}
	return ""
}

// judgeCode checks the exit of the launcher, and returns its fault, or "".
func (r *round) judgeCode(err error, all logs, dead map[int]bool) string {
	// The end of a process whose node is lost may be unknown.
	says := func(p int) bool { return dead[p] && all.saysFailure(p) }
	said := slices.ContainsFunc(all.procs(), says)
	known := slices.ContainsFunc(all.procs(), func(p int) bool { return says(p) && !r.onEndedNode(p) })
	switch {
	case r.allDead(dead), all.endedLate(dead):
	case err != nil && !(r.strict && said):
		return "ended with " + err.Error()
	case err == nil && r.strict && known && !r.silence:
		return "exit code 0, although a rank reported a failure"
	}
	return ""
}

// saysFailure reports whether a process planned to end by itself, not by a signal.
func (l logs) saysFailure(proc int) bool {
	return slices.ContainsFunc(l[proc], func(r record) bool {
		return r.What == recDie && (r.Op == doomExit || r.Op == doomPanic || r.Op == doomError)
	})
}

// allDead reports whether all initial ranks are dead. Then the job may end with any code.
func (r *round) allDead(dead map[int]bool) bool {
	for rank := range r.n {
		if !dead[rank] {
			return false
		}
	}
	return true
}

// endedLate reports whether a process reached its planned end after it had finalized, and so is not
// dead. Then the job has the exit code of this process.
func (l logs) endedLate(dead map[int]bool) bool {
	return slices.ContainsFunc(l.procs(), func(p int) bool { return !dead[p] && l.says(p, recDie) })
}

func (l logs) says(proc int, what string) bool {
	return slices.ContainsFunc(l[proc], func(r record) bool { return r.What == what })
}

// spin occupies a core until stop.
func spin() (stop func()) {
	quit := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			if i%1000 == 0 {
				select {
				case <-quit:
					return
				default:
				}
			}
		}
	}()
	return func() { close(quit) }
}

// since formats the elapsed time for progress lines.
func since(start time.Time) string { return fmt.Sprintf("%6.1fs", time.Since(start).Seconds()) }
