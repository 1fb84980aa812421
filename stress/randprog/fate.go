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

// markName is the mark that a rank sets before each step, for the launcher's plans.
const markName = "step"

// A fate executes the doom of one rank.
type fate struct {
	doom  *doom
	die   func(m *machine, d doom) // at once; returns only for a pause or a death at a kill point
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

// step is called before each step of the program.
func (f *fate) step(m *machine) {
	k := f.steps
	f.steps++
	if f.doom != nil && k == f.doom.step {
		f.meet(m)
	}
}

// soonMax is the number of steps by which a death may come early.
const soonMax = 3

// soon executes a doom at once if it is due within soonMax steps. Its callers are at places where
// much is half done.
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

// over is called at the end of the program, before Finalize.
func (f *fate) over(m *machine) {
	f.cancel()
	if f.doom != nil && f.doom.step == atEnd {
		f.meet(m)
	}
}

// cancel cancels a pending death.
func (f *fate) cancel() {
	if f.timer != nil && !f.timer.Stop() {
		<-f.fired
	}
	f.timer = nil
}

var errDoomed = errors.New("the program gives up, as planned")

// endProcess returns a function that ends a process according to its doom.
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

// stop stops this process. The driver continues it after the given time.
func stop(dir string, d time.Duration) {
	name := filepath.Join(dir, strconv.Itoa(os.Getpid())+stopSuffix)
	if err := os.WriteFile(name, []byte(d.String()), 0o600); err != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

const stopSuffix = ".stop"

// A waker continues processes that have stopped themselves.
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
