package daemon

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// Neighbours are what the daemon of one of several nodes gives its processes so that they reach
// those of others.
type Neighbours struct {
	Job       uint64
	Table     *boot.TableFile
	Seats     []int            // of the node, ascending
	Listeners map[int]*os.File // by seat: where its processes listen, one after the other
	Used      []int            // by seat, of a node that comes late: how many processes had it before; may be short
	bells     []int            // eventfds, in the order of Seats
}

// NewNode makes the daemon of one of several nodes of a job with procs seats.
func NewNode(host Host, procs, homes int, n *Neighbours) (*Daemon, error) {
	d := newDaemon(host)
	d.job, d.neighbours = n.Job, n
	if err := n.makeBells(); err != nil {
		return nil, err
	}
	if err := d.begin(procs, homes); err != nil {
		return nil, err
	}
	for seat, used := range n.Used {
		d.node.SetGeneration(seat, uint32(used))
	}
	d.sleeper = park.NewBells(d.node.BellOf, procs, n.Seats, n.bells)
	return d, nil
}

// makeBells makes the eventfds with which its processes are woken.
func (n *Neighbours) makeBells() error {
	for range n.Seats {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return err
		}
		n.bells = append(n.bells, fd)
	}
	return nil
}

// give adds what the process with a number gets to its descriptors, and says where it finds it, and
// which one of the seat it is.
func (n *Neighbours) give(files []uintptr, number int) ([]uintptr, *boot.Mesh) {
	for _, fd := range n.Descriptors(job.SeatOf(number)) {
		files = append(files, uintptr(fd))
	}
	mesh := &boot.Mesh{TableFd: fdTable, ListenFd: fdListen, Seats: n.Seats, Generation: uint32(job.GenerationOf(number))}
	for i := range n.bells {
		mesh.BellFds = append(mesh.BellFds, fdBells+i)
	}
	return files, mesh
}

// Descriptors are what the process of a seat is given by whoever has adopted it, in this order: the
// table, where it listens, the doorbells. They stay the daemon's.
func (n *Neighbours) Descriptors(seat int) (fds []int) {
	return append([]int{int(n.Table.File().Fd()), int(n.Listeners[seat].Fd())}, n.bells...)
}

// CloseListener lets go of where a process listens, once it has that: when it has ended nobody
// listens there any more. It is for processes that nobody replaces. Where the next process of the
// seat will listen connections to the one before wait until they are given up: who dials does so
// when it learns of the end, and the next process refuses what was meant for another (socket: the
// proof names the listener's birth).
func (n *Neighbours) CloseListener(seat int) { n.Listeners[seat].Close() }
