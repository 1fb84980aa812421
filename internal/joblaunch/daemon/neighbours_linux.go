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
	Seats     []int            // of the node, ascending
	Listeners map[int]*os.File // by seat: where its processes listen, one after the other
	// by seat, of a node that joins late: lower bound of the number of its earlier processes
	Used  []int
	bells []int // eventfds, in the order of Seats
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

// give adds the mesh descriptors of a process to files, and returns their positions and the
// generation of the process in its seat.
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

// Descriptors returns the descriptors for the adopted process of a seat, in this order: the table,
// its listener, the doorbells. They remain the daemon's.
func (n *Neighbours) Descriptors(seat int) (fds []int) {
	return append([]int{int(n.Table.File().Fd()), int(n.Listeners[seat].Fd())}, n.bells...)
}

// CloseListener closes the daemon's copy of a process's listener, once the process has it: nobody
// listens there any more after the process has ended. It is for processes that are not replaced. If
// the next process of the seat will use the listener, connections to the earlier process wait until
// the dialers give up, when they learn of its end. The next process refuses connections meant for
// another (socket: the proof names the listener's birth).
func (n *Neighbours) CloseListener(seat int) { n.Listeners[seat].Close() }
