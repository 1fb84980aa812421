package remotedaemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A job may outlive its launcher (daemonproto.Beats.Survive). A majority of its nodes chooses
// another coordinator, which grants leases and declares deaths; deaths spread by news. The
// functions of the launcher alone end with it: nobody starts processes any more, and nobody
// receives the result of the job.
//
//	launcher    killed
//	daemon      its connection ends: requests for processes are refused, processes that wait for
//	            a world that could not be sent to them are ended
//	processes   continue; end
//	daemon      Quiet: all others learn that nothing runs here any more
//	            all are quiet, or dead: ends
//
// A quiet daemon stays until then, for its vote: without it the others might have no majority, and
// would stand still.

// errAlone is the reply to requests for processes.
const errAlone = "the launcher of the job is gone, and nobody else starts processes"

// A solo is the state of a node daemon that may have to continue without the launcher.
type solo struct {
	may  bool        // the job may outlive its launcher; of begin
	is   atomic.Bool // it has
	dir  string      // where the files of the node's output are
	quit chan struct{}
	once sync.Once

	mu       sync.Mutex
	asked    map[request]bool // requests for processes that were not answered yet
	unmet    map[int]bool     // processes that have not received their world yet
	eventLog *os.File
	kept     []string // the last lines of the event log, as long as there is a launcher

	unwritten atomic.Value // a string: why output is lost that this node was to write

	quiet    atomic.Bool
	finished map[int]bool  // members that are quiet or dead; of the Driver's goroutine
	all      chan struct{} // closed: all other members are
}

// A request is one for processes: each process counts its own.
type request struct {
	proc  int
	token uint64
}

func newSolo() solo {
	return solo{asked: map[request]bool{}, unmet: map[int]bool{}, finished: map[int]bool{}, quit: make(chan struct{}), all: make(chan struct{})}
}

// leave has goOnAlone return.
func (s *solo) leave() { s.once.Do(func() { close(s.quit) }) }

// goOnAlone serves the node after the end of the connection to the launcher, for as long as the
// job lasts.
func (o *nodeDaemon) goOnAlone(ctx context.Context) error {
	o.solo.begin(o.boot.Node)
	o.conn.Close()
	o.note("head", "the launcher has ended: the job continues without it")
	for r := range o.solo.takeAsked() {
		o.refuse(r)
	}
	for _, proc := range o.solo.takeUnmet() {
		o.d.Signal(proc, syscall.SIGKILL)
	}
	o.d.Unexpect(1)
	if err := o.solo.await(ctx, o.d.Ended()); err != nil || o.over.Load() != nil {
		return err
	}
	o.d.EndLeftovers()
	o.d.Drain()
	o.solo.quiet.Store(true)
	o.driver.Publish(membership.Entry{Kind: membership.Quiet})
	if err := o.solo.await(ctx, o.solo.all); err != nil && (!errors.Is(err, errLeft) || o.over.Load() != nil) {
		return err
	}
	o.settled.Store(true)
	o.note("end", "no rank is left on any node that is known to live")
	return nil
}

var errLeft = errors.New("the node leaves the job")

// await waits for one of the events that end a node daemon that is alone.
func (s *solo) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-s.quit:
		return errLeft
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin writes the event log to a file from now on, and first the lines that the launcher may not
// have received: nobody knows which of the last ones it has read.
func (s *solo) begin(node int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// without it the job continues, too
	s.eventLog, _ = os.Create(filepath.Join(s.dir, fmt.Sprintf("node.%d.log", node)))
	for _, line := range s.kept {
		s.write(line)
	}
	s.kept = nil
	s.is.Store(true)
}

// maxKept is how many lines of the event log a daemon keeps for the time after its launcher's end.
const maxKept = 64

// tell writes a line of the event log. As long as the launcher is not known to have ended it keeps
// the line and returns false: the caller reports it to the launcher.
func (s *solo) tell(node int, text string) (written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("%s goulfm: node %d: %s\n", time.Now().Format(time.RFC3339Nano), node, text)
	if !s.is.Load() {
		if len(s.kept) == maxKept {
			s.kept = slices.Delete(s.kept, 0, 1)
		}
		s.kept = append(s.kept, line)
		return false
	}
	s.write(line)
	return true
}

func (s *solo) write(line string) {
	if s.eventLog != nil {
		_, _ = io.WriteString(s.eventLog, line) // on a full disk the job continues without its log
	}
}

// ask notes that a process waits for others to be started; false: nobody will.
func (s *solo) ask(r request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.is.Load() {
		s.asked[r] = true
		return true
	}
	return false
}

// answered notes that it waits no more.
func (s *solo) answered(r request) {
	s.mu.Lock()
	delete(s.asked, r)
	s.mu.Unlock()
}

// expect notes that a process waits for its world; meet that the world was sent.
func (s *solo) expect(proc int) {
	s.mu.Lock()
	s.unmet[proc] = true
	s.mu.Unlock()
}

func (s *solo) meet(proc int) {
	s.mu.Lock()
	delete(s.unmet, proc)
	s.mu.Unlock()
}

func (s *solo) takeAsked() map[request]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = map[request]bool{}
	return asked
}

func (s *solo) takeUnmet() (procs []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for proc := range s.unmet {
		procs = append(procs, proc)
	}
	return procs
}

// finish notes that nothing runs any more at a member; again: that was known. The Driver's
// goroutine calls it.
func (s *solo) finish(member, members int) (again bool) {
	if s.finished[member] {
		return true
	}
	s.finished[member] = true
	if len(s.finished) == members-1 {
		close(s.all)
	}
	return false
}

// refuse answers a request for processes.
func (o *nodeDaemon) refuse(r request) {
	o.d.Say(r.proc, rankproto.Spawned{Token: r.token, Short: true, Why: errAlone})
}

// hearAlone carries out the request of a process where there is no launcher; false: there is one,
// or the request has no effect without one.
func (o *nodeDaemon) hearAlone(proc int, m rankproto.Message) bool {
	switch m := m.(type) {
	case rankproto.Spawn:
		r := request{proc, m.Token}
		if o.solo.ask(r) {
			return false
		}
		o.refuse(r)
		return true
	case rankproto.Aborted:
		if !o.solo.is.Load() {
			return false
		}
		o.abort(m)
		return true
	}
	return false
}

// abort ends the job, or the processes named.
func (o *nodeDaemon) abort(m rankproto.Aborted) {
	if len(m.Procs) == 0 {
		o.driver.Publish(membership.Abort(m.Code))
		o.d.KillAll()
		return
	}
	var doomed []membership.Entry
	for _, proc := range m.Procs {
		doomed = append(doomed, membership.Process(membership.Doomed, uint32(proc)))
		o.d.Signal(proc, syscall.SIGKILL) // if it is one of this node
	}
	o.driver.Publish(doomed...)
}
