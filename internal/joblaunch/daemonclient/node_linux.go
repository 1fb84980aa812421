package daemonclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
)

// A machine is the machine of a node, as its daemon reports it.
type machine struct {
	cores  int
	kernel string
	arch   string
	rack   string // "": not known
}

// A node is one, as the launcher sees it.
type node struct {
	f     *Client
	index int
	name  string
	slots []int

	conn  *socket.Lasting
	in    *daemonproto.Reader
	mouth *daemonproto.Mouth
	end   func(isLost bool) // ends its process on this machine

	machine
	member   daemonproto.Member
	pid      int // of its daemon, there
	ready    daemonproto.Ready
	begun    chan daemonproto.Begun
	census   chan []job.Holding        // the answer to a Census, of which there is one at a time
	vacated  chan daemonproto.Vacated  // that to a Vacate
	welcomed chan daemonproto.Welcomed // that to a Welcome
	settled  chan struct{}             // closed
	excuse   chan error                // the error of the command that started its daemon
	lost     chan struct{}             // closed when it was declared dead
	once     sync.Once
	mu       sync.Mutex
	state    atomic.Int32    // a presence
	isNew    atomic.Bool     // not all others have been notified yet that it is there
	leaving  atomic.Bool     // its engine takes it back
	silent   atomic.Bool     // suspected
	buried   atomic.Bool     // it was declared dead while the job ran
	isOver   bool            // the launcher closes the connection
	why      error           // the connection has ended
	orphans  []*pidfd.Handle // processes here when the node was lost, if it is on this machine
}

func newNode(f *Client, index int, name string) *node {
	return &node{f: f, index: index, name: name, slots: slotsOf(f.of, index), begun: make(chan daemonproto.Begun, 1), census: make(chan []job.Holding, 1),
		vacated: make(chan daemonproto.Vacated, 1), welcomed: make(chan daemonproto.Welcomed, 1), settled: make(chan struct{}), excuse: make(chan error, 1), lost: make(chan struct{})}
}

// A presence is how far a node is on its way into the job.
type presence int32

const (
	isAbsent  presence = iota // a node slot without a node
	isInvited                 // a daemon was invited
	isComing                  // a daemon has accepted
	isThere                   // takes part, or did so before it was lost
)

func (n *node) is(p presence) bool { return presence(n.state.Load()) == p }

// become moves a node from one presence to another; false: its presence was not from.
func (n *node) become(from, to presence) bool { return n.state.CompareAndSwap(int32(from), int32(to)) }

// String names the node for people.
func (n *node) String() string { return fmt.Sprintf("node %d (%s)", n.index, n.name) }

func (n *node) isLost() bool { return isShut(n.lost) }

// isShut reports whether a channel is closed on which nothing is sent.
func isShut(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitBegun waits until the first processes of the node run. A node that is lost when all of them
// had been started has begun, and its processes are dead: others may have met them, although their
// daemon did not report it in time.
//
//	daemon of node 2     launcher                           processes
//	Started, of all
//	Begun                waits for node 0                   have their world; continue
//	killed               receives Begun, and that 2 is lost
//	                     checks node 2: which came first?
func (n *node) awaitBegun() error {
	select {
	case b := <-n.begun:
		return fault(b)
	case <-n.lost:
	}
	select {
	case b := <-n.begun:
		return fault(b)
	default:
	}
	if n.f.hasStarted(n) {
		return nil
	}
	select { // the connection ends before the command that started the daemon
	case err := <-n.excuse:
		return err
	case <-time.After(excuseFor):
	}
	return errLost
}

// excuseFor is how long the launcher waits for the reason that a lost daemon wrote to its standard
// error.
const excuseFor = time.Second

// fault gives the reason why processes could not be started, or nil.
func fault(b daemonproto.Begun) error {
	if b.Why == "" {
		return nil
	}
	return adviseOfProgram(b.Why)
}

// hasStarted reports whether all processes that were to be started on a node have been.
func (f *Client) hasStarted(n *node) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, slot := range n.slots {
		if p := f.processes[slot]; p != nil && p.pid == 0 {
			return false
		}
	}
	return true
}

// ErrNodeLost is the error of starting a process on a lost node.
var ErrNodeLost = errors.New("the node is lost")

var (
	errLost   = errors.New("the connection to its daemon has ended")
	errSilent = errors.New("neither the launcher nor its neighbour hears of it")
)

func (n *node) awaitSettled() {
	select {
	case <-n.settled:
	case <-n.lost:
	}
}

// listen passes on the reports of the daemon, until the stream ends.
func (n *node) listen() {
	for {
		m, err := n.in.Next()
		if err != nil {
			n.disconnect(err)
			return
		}
		n.hear(m)
	}
}

func (n *node) hear(m daemonproto.Message) {
	f := n.f
	switch m := m.(type) {
	case daemonproto.Begun:
		n.begun <- m
	case daemonproto.Started:
		if p := f.process(n, m.Proc); p != nil {
			f.noteStart(p, m)
		}
	case daemonproto.Taken:
		if p := f.process(n, m.Proc); p != nil {
			select {
			case p.taken <- m:
			default:
			}
		}
	case daemonproto.Output:
		n.print(m)
	case daemonproto.Holdings:
		n.census <- m.All
	case daemonproto.Vacated:
		n.vacated <- m
	case daemonproto.Welcomed:
		n.welcomed <- m
	case daemonproto.Settled:
		close(n.settled)
	case daemonproto.Note:
		f.host.Note(m.Event, "%s: %s", n, m.Text)
	case daemonproto.Notice:
		n.leaving.Store(true)
		f.host.Note("node", "%s is wanted back by its engine: its ranks end in %v, if the job has not ended by then, and are replaced elsewhere", n, time.Duration(m.AfterNs).Round(time.Second))
	case daemonproto.Unwritten:
		if f.unwritten != nil {
			f.unwritten(fmt.Errorf("%s: %s", n, m.Why))
		}
	case daemonproto.Failed:
		f.host.Note("node", "%s: %s", n, m.Why)
	default:
		n.hearOfProcess(m)
	}
}

// hearOfProcess passes on the reports about a process.
func (n *node) hearOfProcess(m daemonproto.Message) {
	f := n.f
	switch m := m.(type) {
	case daemonproto.Found:
		if p := f.process(n, m.Proc); p != nil {
			if pausepoint.Enabled {
				pausepoint.At("launcher.found")
			}
			p.isFound = true
			f.host.Found(m.Proc, m.By, m.Left, m.AtNs)
		}
	case daemonproto.Reaped:
		if p := f.process(n, m.Proc); p != nil {
			f.reap(p, m.Status)
		}
	case daemonproto.Heard:
		if p := f.process(n, m.Proc); p != nil && !p.heard {
			p.heard = true
			f.host.Heard(m.Proc)
		}
	case daemonproto.NoLife:
		if p := f.process(n, m.Proc); p != nil {
			f.host.NoLife(m.Proc, m.AtNs)
		}
	case daemonproto.Said:
		if p := f.process(n, m.Proc); p != nil {
			f.said(m)
		}
	}
}

// process returns the process with a number, if it is one of the node and no other one has its slot
// by now.
func (f *Client) process(n *node, number int) *process {
	slot := job.SlotOf(number)
	if number < 0 || slot >= f.procs || f.of[slot] != n.index {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.processes[slot]; p != nil && p.number == number {
		return p
	}
	return nil
}

// noteStart records the number of a process that was started, and notifies the starter.
func (f *Client) noteStart(p *process, m daemonproto.Started) {
	f.mu.Lock()
	p.pid = m.Pid
	f.mu.Unlock()
	select {
	case p.started <- m:
	default: // a duplicate
	}
}

// reap records that a process has ended, and notifies the host.
func (f *Client) reap(p *process, status job.Status) {
	f.mu.Lock()
	again := p.reaped
	p.reaped = true
	f.unmet.forget(p.slot)
	f.mu.Unlock()
	if again {
		return
	}
	if pausepoint.Enabled {
		pausepoint.At("launcher.reaped")
	}
	f.host.Reaped(p.number, status)
	f.mu.Lock()
	f.live--
	f.endIfOver()
	f.mu.Unlock()
}

func (f *Client) said(m daemonproto.Said) {
	said, err := rankproto.FromRank(bytes.NewReader(m.Line), f.procs).Next()
	if unmet, ok := said.Message.(rankproto.Unmet); ok && err == nil {
		f.isUnmet(m.Proc, unmet)
		return
	}
	if err == nil {
		err = f.host.Said(m.Proc, said)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.host.Note("lifeline", "rank %d: %v", m.Proc, err)
	}
}

// print passes on output of a process. It gives the daemon credit once the output is written.
func (n *node) print(m daemonproto.Output) {
	p := n.f.printer(n, m.Proc)
	if p == nil {
		return
	}
	out := p.outs[0]
	if m.Errs {
		out = p.outs[1]
	}
	if out == nil {
		return // it was adopted: its streams are the engine's
	}
	out.add(m.Data, func() { n.mouth.Say(daemonproto.Credit{Bytes: len(m.Data)}) })
	if m.End {
		out.end()
		n.f.forgetPrinter(p)
	}
}

// printer returns the process with a number, if it is one of the node and its output has not ended.
func (f *Client) printer(n *node, number int) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.printing[number]
	if p == nil || f.of[p.slot] != n.index {
		return nil
	}
	return p
}

// forgetPrinter forgets a process after both of its streams have ended.
func (f *Client) forgetPrinter(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.ends++; p.ends == len(p.outs) {
		delete(f.printing, p.number)
	}
}

// disconnect notes that the stream has ended: the daemon is known to have, by its refused port, and
// nothing can be ordered there any more. A connection that only breaks comes again, and is not
// noticed here. The node is dead when its daemon is known to have ended, or its lease is over.
func (n *node) disconnect(err error) {
	if errors.Is(err, io.EOF) {
		err = errLost
	}
	n.conn.Close()
	n.mu.Lock()
	over := n.isOver
	n.why = err
	n.mu.Unlock()
	if over {
		n.once.Do(func() { close(n.lost) })
		return
	}
	if pausepoint.Enabled {
		pausepoint.At("launcher.condemns")
	}
	n.f.driver.Condemn(n.index + 1)
}

// isClosed reports whether the connection has ended.
func (n *node) isClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.isOver || n.why != nil
}

// bury ends a node that was declared dead: its processes have ended, or will never run again.
func (n *node) bury() {
	n.mu.Lock()
	over, why := n.isOver, n.why
	n.mu.Unlock()
	n.once.Do(func() { close(n.lost) })
	if over {
		return
	}
	n.buried.Store(true)
	f := n.f
	if why == nil {
		why = f.whyDeclared(n)
	}
	n.conn.Close()
	f.host.Note("node", "%s is lost: %v", n, why)
	if pausepoint.Enabled {
		pausepoint.At("launcher.buries")
	}
	gone := f.processesOf(n)
	if f.isLocal {
		n.hold(gone)
	}
	for _, p := range gone {
		if !p.isFound {
			f.host.Found(p.number, job.ByNode, false, boot.NowNs())
		}
	}
	for _, p := range gone {
		f.reap(p, job.Status{Signal: 9, Name: "killed"})
		if !p.heard {
			p.heard = true
			f.host.Heard(p.number)
		}
	}
	f.endOutputOf(n)
}

// whyDeclared returns the reason of a declaration for the user: a node that is heard and is declared
// all the same could not be reached from another one.
func (f *Client) whyDeclared(n *node) error {
	f.mu.Lock()
	other, ok := f.unmet.unreached(f.of, n.index)
	f.mu.Unlock()
	if !ok || n.silent.Load() {
		return errSilent
	}
	return fmt.Errorf("it and %s cannot reach each other: open the ports between them, or raise --link-timeout", f.nodes[other])
}

// endOutputOf ends the output of all processes of a node, those before in their slots, too.
func (f *Client) endOutputOf(n *node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for number, p := range f.printing {
		if f.of[p.slot] == n.index {
			p.endOutput()
			delete(f.printing, number)
		}
	}
}

// processesOf returns the processes that were started on a node. Waiters for the start of others
// learn that these were not started.
func (f *Client) processesOf(n *node) (all []*process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, slot := range n.slots {
		if p := f.processes[slot]; p != nil && p.pid != 0 {
			all = append(all, p)
		}
	}
	return all
}

// endOutput records that no more output of a process comes.
func (p *process) endOutput() {
	for _, o := range p.outs {
		if o != nil {
			o.end()
		}
	}
}

// noteOver records that ends from now on are intended.
func (n *node) noteOver() {
	n.mu.Lock()
	n.isOver = true
	n.mu.Unlock()
}

// close ends the daemon of the node. The processes of a lost node of this machine have ended when
// close returns: they end by their daemon's death, but not in the same moment, and the launcher is
// the last to leave.
func (n *node) close() {
	n.noteOver()
	if n.conn != nil {
		n.conn.Close()
	}
	if n.end != nil {
		n.end(n.buried.Load())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.orphans {
		late := time.AfterFunc(endFor, h.Close)
		h.Wait()
		late.Stop()
		h.Close()
	}
	n.orphans = nil
}

// hold keeps hold of processes of this machine, as long as their numbers are theirs: nobody else
// reaps them now.
func (n *node) hold(orphans []*process) {
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	for _, p := range orphans {
		if p.reaped {
			continue
		}
		if fd, err := unix.PidfdOpen(p.pid, 0); err == nil { // else it has ended
			if h, err := pidfd.New(fd); err == nil {
				n.mu.Lock()
				n.orphans = append(n.orphans, h)
				n.mu.Unlock()
			}
		}
	}
}
