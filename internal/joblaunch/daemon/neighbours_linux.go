package daemon

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// Neighbours are the resources that the daemon of one of several nodes gives its processes so that
// they reach those of other nodes.
type Neighbours struct {
	Job       uint64
	Table     *boot.TableFile
	Slots     []int            // of the node, ascending
	Listeners map[int]*os.File // by slot: where its processes listen, one after the other
	// by slot, of a node that joins late: lower bound of the number of its earlier processes
	Used  []int
	bells []int // eventfds, in the order of Slots
}

// NewNode makes the daemon of one of several nodes of a job with procs slots.
func NewNode(host Host, procs, homes int, n *Neighbours) (*Daemon, error) {
	d := newDaemon(host)
	d.job, d.neighbours = n.Job, n
	if err := n.makeBells(); err != nil {
		return nil, err
	}
	if err := d.begin(procs, homes); err != nil {
		return nil, err
	}
	for slot, used := range n.Used {
		d.node.SetGeneration(slot, uint32(used))
	}
	d.sleeper = park.NewBells(d.node.BellOf, procs, n.Slots, n.bells)
	return d, nil
}

// makeBells makes the eventfds with which its processes are woken.
func (n *Neighbours) makeBells() error {
	for range n.Slots {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return err
		}
		n.bells = append(n.bells, fd)
	}
	return nil
}

// give adds the mesh descriptors of a process to files, and returns their positions and the
// generation of the process in its slot.
func (n *Neighbours) give(files []uintptr, number int) ([]uintptr, *boot.Mesh) {
	for _, fd := range n.Descriptors(job.SlotOf(number)) {
		files = append(files, uintptr(fd))
	}
	mesh := &boot.Mesh{TableFd: fdTable, ListenFd: fdListen, Slots: n.Slots, Generation: uint32(job.GenerationOf(number))}
	for i := range n.bells {
		mesh.BellFds = append(mesh.BellFds, fdBells+i)
	}
	return files, mesh
}

// Descriptors returns the descriptors for the adopted process of a slot, in this order: the table,
// its listener, the doorbells. They remain the daemon's.
func (n *Neighbours) Descriptors(slot int) (fds []int) {
	return append([]int{int(n.Table.File().Fd()), int(n.Listeners[slot].Fd())}, n.bells...)
}

// CloseListener closes the daemon's copy of a process's listener, once the process has it: nobody
// listens there any more after the process has ended. It is for processes that are not replaced. If
// the next process of the slot will use the listener, connections to the earlier process wait until
// the dialers give up, when they learn of its end. The next process refuses connections meant for
// another (socket: the proof names the listener's birth).
func (n *Neighbours) CloseListener(slot int) { n.Listeners[slot].Close() }
