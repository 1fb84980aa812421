package comm

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// Undefined is the colour of a member of a Split that requests no communicator, and the rank of a
// process that is no member of a communicator or group.
const Undefined = -32766

// This line does not compile unless the rules use the same number for the colour.
var _ [commstate.Undefined - Undefined]struct{} = [0]struct{}{}

// A Comm is a communicator: an ordered set of processes that exchange messages invisible to other
// communicators. Ranks count its members from 0: a rank is a place in that communicator, while a
// process has one number in the whole job (Group.Processes). Its single responsibility is the
// program's side of a communicator: a Comm checks arguments, passes calls to the engine, and turns
// results into errors that name ranks.
type Comm struct {
	e       *engine.Comm
	w       *world
	epoch   uint64
	topo    topology                     // nil: none
	side    *side                        // of the intercommunicator that has this communicator as its union; else nil
	handler atomic.Pointer[ErrorHandler] // nil: ErrorsReturn
	family  *family                      // nil: none
	uniform atomic.Bool                  // SetUniform
}

// world is the state that all communicators of one Init share.
type world struct {
	proc     *engine.Proc
	process  *boot.Process            // nil: not started by a launcher
	marks    []boot.Mark              // points at which this process ends itself
	reached  func(name string, n int) // receives points that the program marks; may be nil
	starter  rankproto.Launcher       // starts processes; nil: none can be started
	parent   *Intercomm               // the intercommunicator with the processes that started this process, or nil
	joined   *Comm                    // the communicator in which this process has taken a rank, or nil
	handover []byte                   // data that the other members of joined pass to this process
	warned   atomic.Bool              // the warning of too many communicators was printed
	memory   *rankstore.Memory        // of the node, which outlives this process; nil: there is none
	log      *slog.Logger             // Config.Log
}

// Rank returns this process's rank, 0 to Size()-1.
func (c *Comm) Rank() int { return c.e.Rank() }

// Size returns the number of members, dead ones included.
func (c *Comm) Size() int { return c.e.Size() }

// Group returns the members in rank order.
func (c *Comm) Group() Group { return Group{procs: c.e.Numbers(), me: c.w.proc.Number()} }

// RankOf returns the rank in c of a process, by its number in the job, or Undefined.
func (c *Comm) RankOf(process int) int {
	if r := c.e.RankOfNumber(process); r >= 0 {
		return r
	}
	return Undefined
}

// RanksOf returns the ranks in c of the members of g, in g's order; Undefined for those that
// are no members of c.
func (c *Comm) RanksOf(g Group) []int {
	ranks := make([]int, len(g.procs))
	for i, process := range g.procs {
		ranks[i] = c.RankOf(process)
	}
	return ranks
}

// Epoch is a fencing token that grows with every repair (Shrink, Replace). Attach the token to data
// that a program leaves outside of the job, a file or a database row, to refuse writes of a process
// of an older epoch there.
func (c *Comm) Epoch() uint64 { return c.epoch }

// Mark names a point in the program: this process has reached name for the n-th time, or with the
// value n. Plans of failures refer to such points (goulfm run --kill 3@step=40).
func (c *Comm) Mark(name string, n int) {
	if c.w.reached != nil {
		c.w.reached(name, n)
	}
	for _, m := range c.w.marks {
		if m.Name == name && m.N == n {
			c.w.process.Say(rankproto.Killing{Name: name, N: n})
			if !m.Node {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			select {} // SIGKILL is on its way: from here, or of the whole node from its daemon
		}
	}
}

// Abort ends the members of c, this process among them, on a best-effort basis. On a communicator
// with fewer members than the world of this process (Init) Abort ends the members alone, which the
// other processes see as failures (R63). On that world, and on any other communicator with at least
// as many members, Abort ends the whole job with that exit code. Codes are 1 to 255, as a shell
// sees them. Abort replaces another code by 1 and reports so in Config.Log.
func (c *Comm) Abort(code int) {
	if code < 1 || code > 255 {
		c.w.warn("exit code out of range", c.Rank(), slog.Int("code", code), "Abort(%d): exit code %d is not in 1 to 255, using 1", code, code)
		code = boot.ExitError
	}
	if p := c.w.process; p != nil {
		m := rankproto.Aborted{Code: code}
		if c.Size() < c.w.proc.World().Size() {
			m.Procs = c.e.Numbers()
		}
		p.Say(m)
	}
	os.Exit(code)
}

// Free releases the communicator at this process, also when it is revoked or members have failed.
// Free is local: other members may still use the communicator. Operations of this process under way
// on c still complete, as in MPI (7.4.3): sends, also those with a freed request, receives that
// have matched, collectives that have started. A receive that no message has matched ends with
// ErrFreed, and so does a send that waits for a receive of a member that has freed the
// communicator. Free of the world returns ErrUnsupported: Finalize ends the world. A second Free
// returns ErrFreed.
func (c *Comm) Free() error {
	c.family.forget(c.e)
	return fail("free", c, nil, c.e.Free())
}

// Disconnect frees the communicator at all members together (MPI 11.10.4). Disconnect is
// collective: the call returns once each live member has called Disconnect and all operations under
// way on the communicator, at this process and at the others, have ended. A member may end
// afterwards without counting as failed.
//
// The error is ErrProcFailed, at all members or at none, if a member has died or has left through
// Finalize before; the communicator is still freed. Disconnect works on a revoked communicator. If
// ctx is over at the call, the error Is ErrNotBegun, and the communicator is not freed. If ctx ends
// later, Disconnect abandons only the wait, and the communicator is freed here as by Free.
//
// Disconnect also waits for a receive that no message has matched: cancel such a receive first. A
// receive from Any with ErrProcFailedPending holds up no Disconnect and ends with ErrFreed. On the
// world the error is ErrUnsupported: Finalize ends the world. If some members call Disconnect and
// others Agree, AgreeFailed, Shrink, Replace or Finalize, all get ErrMismatch, and the communicator
// is not freed.
func (c *Comm) Disconnect(ctx context.Context) error {
	const op = "disconnect"
	if err := given(ctx, op, c); err != nil {
		return err
	}
	freed, err := engine.Disconnect(ctx, c.e)
	if freed {
		c.family.forget(c.e)
	}
	return fail(op, c, nil, err)
}

func itoa(n int) string { return strconv.Itoa(n) }
