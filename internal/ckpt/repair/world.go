package repair

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// ErrHandover means that the bytes that came with a replacement's invitation are not a
// handover.
var ErrHandover = errors.New("repair: malformed handover")

// Shortage is the policy for a repair that has too few processes to replace the dead.
type Shortage int

// The policies.
const (
	ShortageStop   Shortage = iota // the world ends: TooFew
	ShortageShrink                 // the world continues with fewer ranks
	ShortageWait                   // the request waits for processes; then the world ends
)

// Defaults and bounds.
const (
	Tries      = 5   // Config.Tries
	RepairsMax = 100 // repairs without progress
	FillsMax   = 8   // replacements in a row that end with Unfilled
)

// Config is the same at all processes of a world.
type Config struct {
	Layout   func(nodes []int) redundancy.Layout // placement of copies; nil: no copies
	Shortage Shortage
	Wait     mono.Duration // ShortageWait: bound on the wait
	Tries    int           // this many losses of one rank at one point mean no progress; 0: Tries
	Every    int           // commit at each Every-th point; 0: at the interval that members request
	Files    bool          // versions are written to files, too; the lowest rank publishes them
	Must     bool          // files that cannot be written end the world
	Verify   bool          // restore the version before the last one, to compare the replay
}

func (c *Config) layout(nodes []int) redundancy.Layout {
	if c.Layout == nil {
		return redundancy.Alone(nodes)
	}
	return c.Layout(nodes)
}

// State is the state of a World.
type State int

// The states. Computing to Leaving are of an attempt, see doc.go.
const (
	Idle      State = iota // Begin is awaited
	Computing              // the body runs and is in no call of the library
	Gathering              // in Protect: the exchange of reports
	Restoring              // in Protect: the plan is carried out
	Copying                // in Commit: the version is stored
	Deciding               // in a boundary
	Leaving                // the body has to end, or has ended; its goroutines are awaited
	Shrinking              // the set of survivors is awaited
	Filling                // replacements are awaited
	Telling                // the text of a fatal error is awaited
	Over                   // End was returned
)

// World is one process's view of a world that survives the deaths of its processes. Its single
// responsibility is to decide the next step of a repair: which version is restored, which process
// serves which rank, and when to give up.
type World struct {
	cfg   Config
	state State
	hist  history // the same at all members
	rank  int
	epoch uint64 // greatest that this process has seen
	role  Role   // Survivor since a Protect was agreed

	// The attempt.
	plan      Plan              // of its Protect
	layout    redundancy.Layout // since Protect
	call      Call              // Deciding: the call of this member
	label     Label             // Copying, Deciding: of the version that is made
	pending   bool              // label was stored in an earlier Commit and was not complete
	interval  int               // between commits, in points; agreed
	points    int               // since the last boundary
	request   Commit            // Copying, Deciding: the call of the program
	lastOne   bool              // a stop is agreed: the next boundary is the last one
	filesOpen bool              // agreed: files of a version are being written, or the last ones published
	stopped   bool              // the last one is committed
	over      bool              // the body was ordered to return, other than by OverStop
	canceled  bool
	revoked   bool        // by this process
	decided   bool        // the boundary that ends the attempt is decided
	tally     Tally       // of that boundary
	dead      rankset.Set // agreed there
	result    Result      // Leaving: of the body
	text      string      // of a fatal result; else empty

	// The repair.
	left  rankset.Set // ranks of the attempt that are in the newest communicator
	fatal bool        // agreed: the world ends after the shrink
	fills int         // replacements that failed in this repair
	fillings

	out []Action
}

// fillings belong to the replacement that is in progress: see Filling.
type fillings struct {
	asked []int   // the ranks that replacements are to get
	next  history // the same at all members of the next attempt
}

// New returns the World of a process that was started with the first size ranks. Its home has the
// number of its rank. Protect finds the versions that a former job has left in that home.
func New(cfg Config, size, rank int) *World {
	h := history{attempt: 1, target: size}
	h.grow(size)
	return build(cfg, h, rank)
}

// Adopt returns the World of a replacement that got a rank by Replace: size and handover are
// those of that action. The error is ErrHandover for bytes that are not a handover for size ranks.
func Adopt(cfg Config, size, rank int, handover []byte) (*World, error) {
	h, err := readHistory(handover, size)
	if err != nil {
		return nil, errors.Join(ErrHandover, err)
	}
	w := build(cfg, h, rank)
	w.role = Recovered
	return w, nil
}

// build makes the World of a rank. No replacement uses an epoch a second time, also if all
// processes that stored data in the epoch are dead:
//
//	0, 1     continue in epoch 3 from initial values. 1 is on another node, stores its part of
//	         version 3.1 there, and dies
//	0, 2     0 knows of the epoch; it starts 2 in place of 1, and dies before they meet
//	2, 3     know of no committed version; their first version must not be called 3.1
func build(cfg Config, h history, rank int) *World {
	if cfg.Tries <= 0 {
		cfg.Tries = Tries
	}
	return &World{cfg: cfg, hist: h, rank: rank, epoch: max(h.last.Epoch, h.epoch)}
}

// State returns the state of w.
func (w *World) State() State { return w.state }

// Interval returns the agreed number of points from the last boundary to the next Commit that is
// due. A Commit with Now, and the last one before a stop, may be earlier.
func (w *World) Interval() int { return w.interval }

// Due reports whether the next Commit will do more than count. A Commit with Now always does; after
// the end of the attempt a Commit does nothing. A program may call Due before it prepares anything.
// The result is the same at all members at the same point.
func (w *World) Due() bool { return w.points+1 >= w.interval || w.hurries() }

// hurries reports whether the last version is due at the next point, whatever the interval. With
// Verify it is not: after a death the same number would be made again at another point, and differ.
func (w *World) hurries() bool { return w.lastOne && !w.cfg.Verify }

// Skip is the fast path of a Commit that is not due: it counts the point and returns true.
// If it returns false, nothing was done, and the caller passes Commit to Step.
func (w *World) Skip() bool {
	if w.state != Computing || w.over || w.Due() {
		return false
	}
	w.points++
	return true
}

// Step applies one event and returns the actions that the owner must execute in order. The slice is
// valid until the next Step. An event that does not fit the present state is a bug of the owner and
// panics.
func (w *World) Step(ev Event) []Action {
	w.out = w.out[:0]
	switch ev := ev.(type) {
	case Begin:
		w.expect(w.state == Idle, ev)
		w.run()
	case Protect:
		w.expect(w.state == Computing && w.layout == nil, ev)
		w.state = Gathering
		w.do(Gather{Epoch: w.epoch, Committed: w.hist.last, Known: w.hist.sealed})
	case Gathered:
		w.expect(w.state == Gathering, ev)
		w.gathered(ev.Reports)
	case Restored:
		w.expect(w.state == Restoring, ev)
		w.agree(Ballot{Call: CallSeal, Incomplete: !ev.OK, Same: ev.OK && ev.Same, Digest: salted(ev.Digest, w.plan.Label)})
	case Commit:
		w.expect(w.state == Computing, ev)
		w.commit(ev)
	case Copied:
		w.expect(w.state == Copying, ev)
		w.copied(ev)
	case Decided:
		w.expect(w.state == Deciding, ev)
		w.boundary(Read(ev.Word), ev.Dead)
	case Revoked:
		w.broken()
	case Returned:
		w.expect(w.state == Computing, ev)
		w.returned(ev.Result)
	case Quiet:
		w.expect(w.state == Leaving, ev)
		w.quiet(ev)
	case Shrunk:
		w.expect(w.state == Shrinking, ev)
		w.shrunk(ev.Left)
	case Filled:
		w.expect(w.state == Filling, ev)
		w.filled()
	case Unfilled:
		w.expect(w.state == Filling, ev)
		w.unfilled()
	case Scarce:
		w.expect(w.state == Filling, ev)
		w.scarce(ev.Granted)
	case Told:
		w.expect(w.state == Telling, ev)
		w.end(Outcome{End: Peer, Rank: ev.Rank, Text: ev.Text})
	}
	return w.out
}

func (w *World) expect(cond bool, ev Event) {
	must.That(cond, "repair: %T in state %d", ev, w.state)
}

func (w *World) do(a Action) { w.out = append(w.out, a) }

// run begins an attempt on the newest communicator.
func (w *World) run() {
	w.state = Computing
	w.plan, w.layout, w.label, w.pending = Plan{}, nil, Label{}, false
	w.interval, w.points = max(w.cfg.Every, 1), 0
	w.lastOne, w.stopped, w.over, w.filesOpen = false, false, false, false
	w.canceled, w.revoked, w.decided = false, false, false
	w.tally, w.dead, w.result, w.text = Tally{}, rankset.Set{}, Finished, ""
	w.fills, w.fatal = 0, false
	size := len(w.hist.homes)
	w.left = rankset.Range(0, size)
	w.do(Run{Attempt: w.hist.attempt, Size: size, Rank: w.rank, Home: w.hist.homes[w.rank], Homes: slices.Clone(w.hist.homes), Lost: slices.Clone(w.hist.fresh), Filled: slices.Clone(w.hist.filled), Role: w.role})
}

func (w *World) end(o Outcome) {
	w.state = Over
	w.do(End{o})
}
