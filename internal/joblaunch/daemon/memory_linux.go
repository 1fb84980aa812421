package daemon

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"

	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// NewIdentity returns a fresh identity, of a job or of a process: one that no other has, and that
// nobody guesses.
func NewIdentity() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// MakeKept makes memory that outlives processes: a home for each of the given number of ranks, where
// package recovery finds the data of the predecessor. A limit of the size of files leaves it out, with
// a note to the host and a nil result: recovery then uses copies at other ranks alone.
func MakeKept(host Host, homes int) (*rankstore.Memory, error) {
	kept, err := rankstore.Create(homes)
	if errors.Is(err, unix.EFBIG) {
		host.Note("memory", "recovery does without memory of the node: %v", err)
		return nil, nil
	}
	return kept, err
}

// makeMemory makes segment 0 and the arenas of the job, and memory that outlives processes, with
// homes for so many ranks.
func (d *Daemon) makeMemory(procs, homes int) (err error) {
	if homes > 0 {
		if d.kept, err = MakeKept(d.host, homes); err != nil {
			return err
		}
	}
	nodeFile, err := segment.Create("goulfm-node", segment.NodeBytes(procs))
	if err != nil {
		return err
	}
	arenas, err := segment.Create("goulfm-arenas", segment.ArenasBytes(procs))
	if err != nil {
		nodeFile.Close()
		return err
	}
	d.memory = []*os.File{nodeFile, arenas}
	m, err := segment.Attach(nodeFile.Fd())
	if err != nil {
		d.Close()
		return err
	}
	d.node = segment.FormatNode(m, procs, d.job)
	return nil
}

// Close releases the resources that only new processes need.
func (d *Daemon) Close() {
	if d.strays != nil {
		_ = d.strays.Close()
	}
	if d.kept != nil && !d.isLent {
		_ = d.kept.Close() // of no process any more
	}
	for _, f := range d.memory {
		f.Close()
	}
}

// Job is the identity of the job, as all of its memory has it.
func (d *Daemon) Job() uint64 { return d.job }

// Memory is segment 0 and the memory of all arenas, until Close, for adopted processes, which
// inherit nothing.
func (d *Daemon) Memory() (node, arenas *os.File) { return d.memory[0], d.memory[1] }

// Procs is for how many processes there is memory.
func (d *Daemon) Procs() int { return d.node.Procs() }

// Announce has all processes know that those with numbers below n are there, or will be.
func (d *Daemon) Announce(n int) { d.node.SetStarted(n) }

// Declare puts a process into the list of departures that all processes of the node read; left: it
// was through Finalize; otherwise it has died. Calls are made one after the other, each followed by
// WakeAll.
func (d *Daemon) Declare(proc int, left bool) {
	why := segment.Died
	if left {
		why = segment.Retired
	}
	enter(d.node, proc, why)
}

// DeclareLost is Declare of a process of another node that was declared dead without exact
// evidence: it may run on.
func (d *Daemon) DeclareLost(proc int) { enter(d.node, proc, segment.Lost) }

// enter puts a process into the list, unless another one has its slot by now.
func enter(node *segment.Node, proc int, why uint32) {
	if slot := job.SlotOf(proc); int(node.Generation(slot)) == job.GenerationOf(proc) {
		node.AppendDeath(slot, why)
	}
}

// WakeAll makes all processes poll the list of departures.
func (d *Daemon) WakeAll() { d.node.WakeAll(d.sleeper) }
