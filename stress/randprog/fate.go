package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// markName is the point that a rank marks before each step, for the launcher's plans.
const markName = "step"

// A fate is what a round has in store for one rank.
type fate struct {
	doom  *doom
	die   func(m *machine, d doom) // on the spot; a pause and a death at a kill point return
	steps int
	timer *time.Timer
	fired chan struct{}
}

func (r *round) fateOf(proc int, die func(m *machine, d doom)) *fate {
	f := &fate{die: die}
	if d, ok := r.dooms[proc]; ok && d.kind != doomLaunch && d.kind != doomNode {
		f.doom = &d
	}
	return f
}

// step is before each step of the program.
func (f *fate) step(m *machine) {
	k := f.steps
	f.steps++
	if f.doom != nil && k == f.doom.step {
		f.meet(m)
	}
}

// soonMax is how many steps before its moment a death may be met.
const soonMax = 3

// soon has a rank die, or pause, on the spot if that is due in some steps: at a place where much is
// half done.
func (f *fate) soon(m *machine) {
	if f.doom == nil || f.doom.step < f.steps || f.doom.step >= f.steps+soonMax {
		return
	}
	d := *f.doom
	f.doom.step = metAlready
	d.after = 0
	f.die(m, d)
}

func (f *fate) meet(m *machine) {
	d := *f.doom
	if d.after == 0 {
		f.die(m, d)
		return
	}
	f.fired = make(chan struct{})
	f.timer = time.AfterFunc(d.after, func() {
		defer close(f.fired)
		f.die(m, d)
	})
}

// over is the end of the program, before Finalize.
func (f *fate) over(m *machine) {
	f.cancel()
	if f.doom != nil && f.doom.step == atEnd {
		f.meet(m)
	}
}

// cancel has the rank die no more.
func (f *fate) cancel() {
	if f.timer != nil && !f.timer.Stop() {
		<-f.fired
	}
	f.timer = nil
}

var errDoomed = errors.New("the program gives up, as planned")

// endProcess ends a process, in the way of its doom.
func endProcess(dir string) func(m *machine, d doom) {
	return func(m *machine, d doom) {
		if d.kind == doomMark {
			m.world.Mark(markName, d.step)
			return
		}
		m.log.put(record{What: recDie, Op: d.kind, Procs: []int{m.me}})
		switch d.kind {
		case doomKill:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case doomExit:
			os.Exit(rand.IntN(4))
		case doomPanic:
			panic("as planned")
		case doomError:
			panic(errDoomed)
		case doomStop:
			stop(dir, 2*suspectAfter+time.Duration(rand.Int64N(int64(suspectAfter))))
		case doomPause:
			stop(dir, time.Duration(rand.Int64N(int64(pauseMax))))
		case doomPoint:
			armPoint(d.point)
		}
	}
}

// stop has this process stop, and the driver start it again after a while.
func stop(dir string, d time.Duration) {
	name := filepath.Join(dir, strconv.Itoa(os.Getpid())+stopSuffix)
	if err := os.WriteFile(name, []byte(d.String()), 0o600); err != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

const stopSuffix = ".stop"

// A waker lets processes go on that have stopped themselves.
type waker struct {
	dir  string
	quit chan struct{}
	done chan struct{}
}

func newWaker(dir string) *waker {
	w := &waker{dir, make(chan struct{}), make(chan struct{})}
	go w.run()
	return w
}

func (w *waker) close() {
	close(w.quit)
	<-w.done
}

func (w *waker) run() {
	defer close(w.done)
	due := map[string]time.Time{}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return
		case now := <-tick.C:
			names, _ := filepath.Glob(filepath.Join(w.dir, "*"+stopSuffix))
			for _, name := range names {
				w.look(name, now, due)
			}
		}
	}
}

func (w *waker) look(name string, now time.Time, due map[string]time.Time) {
	if _, known := due[name]; !known {
		text, _ := os.ReadFile(name)
		d, err := time.ParseDuration(string(text))
		if err != nil {
			return // not written yet
		}
		due[name] = now.Add(d)
	}
	if now.After(due[name]) {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(name), "%d"+stopSuffix, &pid); err == nil {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		_ = os.Remove(name)
		delete(due, name)
	}
}
