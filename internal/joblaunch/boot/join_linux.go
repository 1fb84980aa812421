package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/shm"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// Process is a process that has joined its job.
type Process struct {
	Info Info
	End  transport.End
	Node *segment.Node
	// Nodes holds the node of the process of each slot; nil: all are on one node.
	Nodes []int

	// OnFenced is called when a process of another node reports that this one was declared dead.
	// The caller of Join sets OnFenced before the engine starts.
	OnFenced func(why string)

	meet func(rankproto.Meet) // nil: all processes are on this node

	mu    sync.Mutex
	line  net.Conn
	in    *rankproto.Decoder
	notes []rankproto.Received // not sent yet, in the order of their times
	beats atomic.Uint32

	token   uint64
	answers map[uint64]chan rankproto.Spawned // to requests that wait
}

// Join attaches to the shared memory, puts up this process's tombstone and reports Joined. From
// here on the launcher learns of the end of this process within a fraction of a millisecond,
// whatever ends the process.
//
// A program that a rank started before the rank called Init inherits the rank's environment, and
// perhaps its descriptors. Join refuses such a program, because a rank is one process.
func (i Info) Join() (*Process, error) {
	me := i.Proc()
	if _, err := unix.FcntlInt(uintptr(i.NodeFd), unix.F_GET_SEALS, 0); err != nil {
		return nil, badDescriptor(i.NodeFd, "the job's memory", err)
	}
	p := &Process{Info: i, notes: make([]rankproto.Received, 0, 16), answers: map[uint64]chan rankproto.Spawned{}}
	if err := p.open(); err != nil {
		return nil, err
	}
	node := p.Node
	f := os.NewFile(uintptr(i.LifelineFd), "lifeline")
	line, err := net.FileConn(f) // a copy
	f.Close()
	if err != nil {
		return nil, badDescriptor(i.LifelineFd, "the lifeline to the launcher", err)
	}
	p.line, p.in = line, rankproto.FromDaemon(line, node.Procs())
	if err := putUpTombstone(node.Tombstone(me)); err != nil {
		line.Close()
		if errors.Is(err, errTaken) {
			return nil, fmt.Errorf("process %d is in the job already, as pid %d: %s", me, node.Pid(me), anothers)
		}
		return nil, err
	}
	for _, fd := range []int{i.NodeFd, i.ArenasFd, i.KeepFd} {
		if fd > 0 {
			unix.CloseOnExec(fd)
		}
	}
	node.SetPid(me, os.Getpid())
	node.SetState(me, segment.Joined)
	p.Beat() // Beat here: the process may be stopped before it calls Listen
	armKillpoint(me)
	p.Say(rankproto.Joined{})
	return p, nil
}

// open attaches to the memory of the node. In a job on several nodes it also attaches to the
// mesh.
func (p *Process) open() (err error) {
	i := p.Info
	if i.Mesh != nil {
		return p.openMesh()
	}
	port, node, err := shm.Open(i.Proc(), i.Job, uintptr(i.NodeFd), uintptr(i.ArenasFd))
	if err != nil {
		return err
	}
	p.End, p.Node = port.End(), node
	return nil
}

// Remedies, by the fault.
const (
	// anothers is for a program that has the environment of a rank and is not that rank.
	anothers = "the environment variable " + Variable + " is that of the rank which has started this program: start it with " + Variable + " unset"
	// passOn is for a program whose descriptors were closed by its starter, which may be a rank.
	passOn = "the program that starts a rank has to pass its descriptors on (sudo closes them); a program that is no rank starts with " + Variable + " unset"
	// ours is for a fault that no environment explains: both sides are of one build.
	ours = "that is a fault of goulfm: report it as CONTRIBUTING.md says"
)

// badDescriptor returns the error about a descriptor that does not hold the file that the daemon
// put there.
func badDescriptor(fd int, what string, err error) error {
	if errors.Is(err, unix.EBADF) {
		cure := remedy()
		if cure == anothers {
			cure = passOn
		}
		return fmt.Errorf("descriptor %d, %s, is closed: %s", fd, what, cure)
	}
	return fmt.Errorf("descriptor %d is not %s: %w: %s", fd, what, err, remedy())
}

// Beat shows that this process lives, if the launcher checks for signs of life. A process that
// makes calls beats in passing; the launcher asks a process that makes none. A thread that woke
// up only to beat would do so at the cost of a communicating thread, for milliseconds where each
// rank has its own processor. To answer the launcher's request takes a P for a moment: a program
// that computes on all of them is late by up to 20 ms.
func (p *Process) Beat() {
	if p.Info.Watched {
		p.Node.Beat(p.Info.Proc(), max(p.beats.Add(1), 1))
	}
}

// Say sends a message to the launcher. If the launcher has ended, the message is lost.
func (p *Process) Say(m rankproto.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(m)
	p.flush()
}

// Note is Say that waits for the next Flush; the message carries the time of the call. Right
// after a death every rank has messages to send, while the repair needs the processors.
func (p *Process) Note(m rankproto.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(m)
}

// Flush sends the messages that Note has kept.
func (p *Process) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

// RepairTime is the delay after a death for all work that can wait. The survivors need the
// processors for their repair, which is probably over by then.
const RepairTime = 100 * time.Millisecond

// FlushOld sends the kept messages once the first of them is older than RepairTime.
func (p *Process) FlushOld() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) > 0 && NowNs()-p.notes[0].AtNs > RepairTime.Nanoseconds() {
		p.flush()
	}
}

func (p *Process) add(m rankproto.Message) {
	p.notes = append(p.notes, rankproto.Received{AtNs: NowNs(), Message: m})
}

func (p *Process) flush() {
	var text []byte
	for _, m := range p.notes {
		line, err := rankproto.Encode(m.AtNs, m.Message)
		if err != nil {
			continue // Ask has refused the message; a failed report must not end a program
		}
		text = append(text, line...)
	}
	if len(text) > 0 {
		_, _ = p.line.Write(text)
	}
	p.notes = p.notes[:0]
}

// Listen handles the launcher's messages: it shows that this process lives or calls dump when the
// launcher asks, passes answers to the waiting requests, and calls revoked for revocations by
// processes that have died. When the launcher ends, Listen kills this process: by default a job
// ends with its launcher.
func (p *Process) Listen(dump func(), revoked func(name [16]byte)) {
	for m, err := p.in.Next(); err == nil; m, err = p.in.Next() {
		switch m := m.Message.(type) {
		case rankproto.Prove:
			p.Beat()
		case rankproto.Describe:
			dump()
		case rankproto.Meet:
			p.wasAsked(m)
		case rankproto.Spawned:
			p.mu.Lock()
			if ch := p.answers[m.Token]; ch != nil {
				ch <- m
				delete(p.answers, m.Token)
			}
			p.mu.Unlock()
		case rankproto.Revoked:
			revoked([16]byte(m.Name))
		}
	}
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
}

// wasAsked dials a process of another node that cannot dial this one.
func (p *Process) wasAsked(m rankproto.Meet) {
	if p.meet != nil {
		p.meet(m)
	}
}

// Kept runs in a process that other processes have started. Kept waits until they agree to keep
// this process, and returns their message. The launcher ends a process that no communicator
// keeps.
func (p *Process) Kept() (rankproto.Keep, error) {
	for m, err := p.in.Next(); err == nil; m, err = p.in.Next() {
		switch m := m.Message.(type) {
		case rankproto.Prove:
			p.Beat()
		case rankproto.Meet:
			p.wasAsked(m)
		case rankproto.Keep:
			return m, nil
		}
	}
	return rankproto.Keep{}, errors.New("the launcher is gone")
}

// Ask requests new processes from the launcher and waits for the answer, or until ctx is over. In
// the second case late receives the answer when it comes. Ask sets the token of the request.
func (p *Process) Ask(ctx context.Context, m rankproto.Spawn, late func(rankproto.Spawned)) (rankproto.Spawned, error) {
	if _, err := rankproto.Encode(0, m); err != nil {
		return rankproto.Spawned{}, err
	}
	ch := make(chan rankproto.Spawned, 1)
	p.mu.Lock()
	p.token++
	m.Token = p.token
	p.answers[m.Token] = ch
	p.mu.Unlock()
	p.Say(m)
	select {
	case answer := <-ch:
		return answer, nil
	case <-ctx.Done():
		go func() { late(<-ch) }()
		return rankproto.Spawned{}, ctx.Err()
	}
}

// NowNs reads the clock that all processes of the machine share.
func NowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// robustHead is the kernel's struct robust_list_head, followed by the one entry
// of its list.
type robustHead struct {
	next    uintptr // to entry
	offset  int     // from an entry to its futex word
	pending uintptr
	entry   uintptr // back to the head: the list is a circle
}

var errTaken = errors.New("tombstone: taken")

const robustHeadBytes = 24 // without the entry

// putUpTombstone makes the kernel mark word when this process ends. A thread that never ends owns
// word as a robust futex. At exit, before the kernel frees the memory, it walks the list, sets
// OWNER_DIED in the word, and wakes one waiter if the WAITERS bit is set. So putUpTombstone sets
// that bit from the start, and the launcher is the only waiter.
// (Documentation/locking/robust-futex-ABI in the kernel.)
//
// A word that is not zero belongs to another process, dead or alive: errTaken.
func putUpTombstone(word *uint32) error {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("tombstone: %w", err)
	}
	head := (*robustHead)(unsafe.Pointer(&page[0]))
	base := uintptr(unsafe.Pointer(head))
	entry := base + unsafe.Offsetof(head.entry)
	head.next, head.entry = entry, base
	head.offset = int(uintptr(unsafe.Pointer(word)) - entry)
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread lives as long as the process
		_, _, errno := unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, base, robustHeadBytes, 0)
		if errno != 0 {
			result <- fmt.Errorf("tombstone: set_robust_list: %w", errno)
			return
		}
		if !atomic.CompareAndSwapUint32(word, 0, uint32(unix.Gettid())|segment.TombstoneWaiters) {
			result <- errTaken
			return
		}
		result <- nil
		select {}
	}()
	return <-result
}
