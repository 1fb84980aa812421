package daemon

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/park"
)

// Neighbours are what the daemon of one of several nodes gives its processes so that they reach
// those of others.
type Neighbours struct {
	Job       uint64
	Table     *os.File         // a boot.Table as JSON
	Seats     []int            // of the node, ascending
	Listeners map[int]*os.File // by seat: where its process will listen
	bells     []int            // eventfds, in the order of Seats
}

// NewNode makes the daemon of one of several nodes of a job with procs seats.
func NewNode(host Host, procs int, n *Neighbours) (*Daemon, error) {
	d := newDaemon(host)
	d.job, d.neighbours = n.Job, n
	if err := n.makeBells(); err != nil {
		return nil, err
	}
	if err := d.begin(procs); err != nil {
		return nil, err
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

// give adds what the process of a seat gets to its descriptors, and says where it finds it.
func (n *Neighbours) give(files []uintptr, seat int) ([]uintptr, *boot.Mesh) {
	files = append(files, n.Table.Fd(), n.Listeners[seat].Fd())
	for _, fd := range n.bells {
		files = append(files, uintptr(fd))
	}
	return files, &boot.Mesh{TableFd: fdTable, ListenFd: fdListen, BellsFd: fdBells, Seats: n.Seats}
}

// closeListener lets go of where a process listens, once it has that: when it has ended nobody
// listens there any more.
func (n *Neighbours) closeListener(seat int) { n.Listeners[seat].Close() }
