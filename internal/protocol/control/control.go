package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// World is the context index of the world, at every process.
const World uint32 = 0

// Config holds the identity of a process and the settings of its rules.
type Config struct {
	N, Me    int           // processes that the job can have; this process
	Detector fd.Config     // its N and Me are filled in
	Watchdog mono.Duration // agreements re-send after this long without progress; 0 = never

	// World are the processes of this process's world, ascending; nil: all N. Spawns introduce
	// other processes.
	World []int
	// Union, if not nil, is the communicator of a spawned process with the processes that started
	// it, of index commstate.SpawnedIndex.
	Union *commstate.Group
	// UnionUniform is the initial uniform mode of Union: the mode of its parent.
	UnionUniform bool
	// Uniform is the initial uniform mode of the world: see the event of this name.
	Uniform bool

	// Slots means that a process number is a slot. Another process may get the slot once no process
	// refers to its last occupant: see LetGo. Slots requires exact deaths.
	Slots bool
	// Generation is the number of processes that had the slot of the first process of World before.
	Generation uint32

	// Blocks is the number of communicators of a process that can have a block of the node's memory
	// at the same time, 0 for none. Index i has block i mod (Blocks+1), and none if the result is
	// Blocks. While a block is free, only an index with a free block is drawn.
	Blocks int

	// Prepare, if not nil, is called when an index with a block is drawn, before any other process
	// can learn of the index. Prepare invalidates the words of an earlier communicator in the block
	// (see onenode.Memory). The world's memory is prepared from the beginning.
	Prepare func(index uint32)

	// Together reports whether all members of a communicator share memory. Control asks if all
	// members have blocks. The result must be the same at all members. Nil: all processes share
	// memory.
	Together func(g commstate.Group) bool

	// SilentRevocation means that some revocations travel outside of these rules, as Revoke events
	// at each member: the revocations of communicators whose members all have blocks and share
	// memory.
	SilentRevocation bool

	// Memory, if not nil, returns the shared memory for the agreements of a communicator. Control
	// asks if all members have blocks. Memory may return none if it does so at all members. Memory
	// requires exact deaths: see package onenode.
	Memory func(index uint32, g commstate.Group) commstate.Memory
}

// HasBlocks reports whether all members of a communicator with these context indices have a block
// of memory for it, if each process has this number of blocks.
func HasBlocks(indices []uint32, blocks int) bool {
	for _, i := range indices {
		if blockOf(i, blocks) < 0 {
			return false
		}
	}
	return true
}

// Control is all control rules of one process: its failure detector, and the agreements, revocation
// and failed members of each of its communicators. Its single responsibility is to route each event
// to the rule that handles it, and the actions of a rule to the host or to another rule.
type Control struct {
	cfg  Config
	fd   *fd.Detector
	dead rankset.Set // processes declared here
	seen []int       // the members of dead in the order of declaration
	left rankset.Set // processes that returned from Finalize
	met  rankset.Set // members of communicators that this process has or had
	comm table

	world uint32 // the communicator that Finalize closes

	early      early
	queue      []job       // actions of communicators to carry out, oldest first
	out        []Action    // the result of Step
	compareDue bool        // digests are sent at the end of this Step
	letGoDue   bool        // a process or a communicator has ended
	departed   rankset.Set // processes in the list of this node: Exited, Departed, Lost or Left has arrived
	lost       rankset.Set // dead processes that may still run
	ending     ending      // Finalize, before it closes
	finalizing bool        // this process has proposed to close the world
	fenced     bool        // declared dead by others: does nothing any more
}

// job is an action of a communicator that is not carried out yet. It refers to the communicator
// itself, because the last messages of a communicator are sent after its close.
type job struct {
	comm *communicator
	act  commstate.Action
}

// New returns the control rules of process cfg.Me. The world is communicator
// World.
func New(cfg Config) *Control {
	must.That(cfg.Me >= 0 && cfg.Me < cfg.N, "process %d of %d", cfg.Me, cfg.N)
	must.That(cfg.Memory == nil || !cfg.Detector.Fences(), "agreements in memory take exact deaths")
	cfg.Detector.N, cfg.Detector.Me = cfg.N, cfg.Me
	c := &Control{cfg: cfg, fd: fd.New(cfg.Detector)}
	c.comm = newTable(cfg.Blocks)
	c.begin(WorldGroup(cfg.N, cfg.Me, cfg.World, cfg.Generation), cfg.Uniform)
	if cfg.Union != nil {
		must.That(cfg.Union.Index == commstate.SpawnedIndex, "a union of index %d", cfg.Union.Index)
		c.begin(*cfg.Union, cfg.Uniform || cfg.UnionUniform)
	}
	return c
}

// begin makes an initial communicator of this process.
func (c *Control) begin(g commstate.Group, uniform bool) {
	cm := c.newCommunicator(g, origin{})
	cm.uniform = uniform
	c.comm.put(g.Index, entry{state: Live, comm: cm})
}

// newCommunicator returns a live communicator.
func (c *Control) newCommunicator(g commstate.Group, from origin) *communicator {
	for _, proc := range g.Procs {
		c.met.Add(proc)
	}
	return newCommunicator(c.commConfig(g), from)
}

// WorldGroup returns the world of process me: procs, ascending, or nil for all n. Generation is the
// number of processes that had the slot of the first process before: it distinguishes worlds of the
// same slots.
func WorldGroup(n, me int, procs []int, generation uint32) commstate.Group {
	if procs == nil {
		procs = make([]int, n)
		for p := range procs {
			procs[p] = p
		}
	}
	g := commstate.Group{Index: World, UID: commstate.WorldUID(len(procs))}
	if procs[0] > 0 || generation > 0 {
		g.UID = commstate.SpawnedUID(procs[0], generation, len(procs))
	}
	g.Procs, g.Indices, g.Me = procs, make([]uint32, len(procs)), slices.Index(procs, me)
	return g
}

// Step applies one event and returns, in order, the actions of the caller. Step never blocks, reads
// no clock and starts nothing. The slice is valid until the next Step.
func (c *Control) Step(ev Event) []Action {
	c.out = c.out[:0]
	if c.fenced {
		return nil
	}
	c.apply(ev)
	c.drain()
	if c.compareDue && !c.fenced {
		c.compareDue = false
		c.sendDigests()
	}
	if c.letGoDue && c.cfg.Slots && !c.fenced {
		c.letGo()
	}
	c.letGoDue = false
	return c.out
}

// Deadline returns the time at which the process next needs a Tick, and false if it needs none.
func (c *Control) Deadline() (mono.Time, bool) {
	if c.fenced {
		return 0, false
	}
	least, any := c.fd.Deadline()
	if c.cfg.Watchdog == 0 {
		return least, any
	}
	for cm := range c.comm.comms() {
		if t, ok := cm.Deadline(); ok && (!any || t < least) {
			least, any = t, true
		}
	}
	return least, any
}

// State returns the state of context index comm here.
func (c *Control) State(comm uint32) State { return c.comm.state(comm) }

// IsRevoked reports whether communicator comm is live and revoked here.
func (c *Control) IsRevoked(comm uint32) bool {
	cm := c.comm.live(comm)
	return cm != nil && cm.IsRevoked()
}

// Failed returns the known failed members of communicator comm, or nil if comm is not live.
func (c *Control) Failed(comm uint32) *commstate.Failed {
	if cm := c.comm.live(comm); cm != nil {
		return cm.Failed()
	}
	return nil
}

// Dead returns the processes that are declared dead here. The set belongs to the caller.
func (c *Control) Dead() rankset.Set { return c.dead.Clone() }

// WaitsFor returns the ranks of communicator comm for which the call with this
// token waits, for diagnosis.
func (c *Control) WaitsFor(comm uint32, token uint64) []int {
	cm := c.comm.live(comm)
	if cm == nil {
		return nil
	}
	if g := cm.gathering(token); g != nil {
		return g.waitsFor()
	}
	return cm.WaitsFor(token)
}

// Describe returns the state in a few lines.
func (c *Control) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "process %d of %d, dead %v, left %v", c.cfg.Me, c.cfg.N, c.dead, c.left)
	if c.fenced {
		b.WriteString(", fenced")
	}
	fmt.Fprintf(&b, "\n  detector: %s\n", c.fd.Describe())
	for i, s := range c.comm.all() {
		switch s.state {
		case Pending:
			fmt.Fprintf(&b, "  communicator %d: pending on %d, %d frames held\n", i, s.wait.parent.index(), len(s.wait.held))
		case Live:
			fmt.Fprintf(&b, "  communicator %d %v: %s\n", i, s.comm.Group().UID, s.comm.Describe())
		}
	}
	return b.String()
}

func (c *Control) apply(ev Event) {
	switch ev := ev.(type) {
	case Exited:
		c.list(ev.Proc, fd.Exited{Rank: ev.Proc})
	case Departed:
		c.list(ev.Proc, fd.Left{Rank: ev.Proc})
		c.declare(ev.Proc, fd.ByExit) // the detector does not: departures are not flooded
	case Lost:
		c.lost.Add(ev.Proc)
		c.list(ev.Proc, fd.Agreed{Dead: rankset.Of(ev.Proc)})
	case Broken:
		c.stepDetector(fd.Broken{Rank: ev.Proc})
	case Left:
		c.departed.Add(ev.Proc)
		c.letGoDue = true
		c.leave(ev.Proc)
	case Tick:
		c.tick(ev.Now)
	case Receive:
		c.receive(ev.From, ev.Frame)
	case Propose:
		c.propose(ev)
	case Look:
		if cm := c.comm.live(ev.Comm); cm != nil {
			c.step(cm, commstate.Look{})
		}
	case Uniform:
		if cm := c.comm.live(ev.Comm); cm != nil {
			c.setUniform(cm, ev.On)
		}
	case Revoke:
		if cm := c.comm.live(ev.Comm); cm != nil {
			c.step(cm, commstate.Revoke{})
		}
	case Succeed:
		must.That(c.comm.live(ev.Comm) != nil && !c.ending.open && !c.finalizing, "communicator %d succeeds the world", ev.Comm)
		c.world, c.ending.met = ev.Comm, places{}
	case Outlived:
		if cm := c.early.hear(&c.comm, ev.Name); cm != nil {
			c.step(cm, commstate.Revoke{})
		}
	}
}

func (c *Control) tick(now mono.Time) {
	c.stepDetector(fd.Tick{Now: now})
	if c.cfg.Watchdog == 0 {
		return
	}
	for cm := range c.comm.comms() {
		c.step(cm, commstate.Tick{Now: now})
	}
}

// step gives an event to a communicator and queues its actions. The queue prevents that a machine
// is entered while it returns actions: a decision declares deaths, and a death steps the same
// agreement that decided.
func (c *Control) step(cm *communicator, ev commstate.Event) {
	for _, a := range cm.Step(ev) {
		c.queue = append(c.queue, job{comm: cm, act: a})
	}
}

// drain carries out the queued actions, and the actions that these cause, until the queue is empty.
func (c *Control) drain() {
	for i := 0; i < len(c.queue) && !c.fenced; i++ {
		c.carryOut(c.queue[i].comm, c.queue[i].act)
	}
	clear(c.queue)
	c.queue = c.queue[:0]
}

func (c *Control) carryOut(cm *communicator, a commstate.Action) {
	switch a := a.(type) {
	case commstate.Send:
		g := cm.Group()
		f := memberFrame{to: g.Indices[a.To], from: g.Index, part: a.Part, seq: a.Seq, msg: a.Msg}
		c.send(g.Procs[a.To], f.append(nil))
	case commstate.Revoked:
		c.revoked(cm)
	case commstate.Decide:
		c.decide(cm, a)
	case commstate.GiveUp:
		c.answer(cm, a.Proposal, a.Class)
	case commstate.Watch:
		c.stepDetector(fd.Watch{Rank: cm.Group().Procs[a.Rank]})
	case commstate.Anomaly:
		c.anomaly(cm.Group().Procs[a.From], fmt.Sprintf("communicator %d: %s", cm.index(), a.Text))
	}
}

// revoked handles the revocation of cm here. If cm is hidden, its parent is revoked, too: see
// revokeParent.
func (c *Control) revoked(cm *communicator) {
	if cm.hidden != nil {
		c.revokeParent(cm.hidden.parent)
		return
	}
	c.act(Revoked{Comm: cm.index()})
	c.scatter(cm, ulfm.ErrRevoked)
}

func (c *Control) stepDetector(ev fd.Event) {
	for _, a := range c.fd.Step(ev) {
		switch a := a.(type) {
		case fd.Send:
			c.act(Send{To: a.To, Frame: append([]byte{classDetector}, a.Msg...)})
		case fd.Declare:
			c.declare(a.Rank, a.Evidence)
		case fd.Suspect:
			c.act(Suspected{Proc: a.Rank, Unanswered: a.Unanswered})
		case fd.Fenced:
			c.fence(fenceReason(a))
		case fd.Anomaly:
			c.anomaly(a.From, a.Text)
		}
	}
}

func fenceReason(f fd.Fenced) string {
	switch {
	case f.Minority:
		return "this process is cut off from the greater part of the others"
	case f.By < 0:
		return "this process was declared dead by agreement or on exact evidence"
	}
	return fmt.Sprintf("this process was declared dead, says process %d", f.By)
}

// declare carries a declared death to every communicator with that member, in
// the order of their indices.
func (c *Control) declare(proc int, evidence fd.Evidence) {
	if !c.dead.Add(proc) {
		return
	}
	c.seen = append(c.seen, proc)
	c.act(Declared{Proc: proc, Evidence: evidence})
	for cm := range c.comm.comms() {
		c.tellDeath(cm, proc)
	}
	c.gatherWithout(proc)
	c.compareDue, c.letGoDue = true, true
}

func (c *Control) tellDeath(cm *communicator, proc int) {
	if rank, belongs := cm.rank(proc); belongs {
		c.step(cm, commstate.Died{Rank: rank}) // a repetition changes nothing
		if c.departed.Has(proc) {
			c.step(cm, commstate.Listed{Rank: rank})
		}
		if cm.visible().uniform {
			c.step(cm, commstate.Revoke{})
		}
	}
}

// list handles a death, or the departure of a process of another world, that is in the list of this
// node. Communicators learn of the death and of the entry at the same time. If an agreement has
// declared the death before, they learn of the entry now.
func (c *Control) list(proc int, ev fd.Event) {
	wasDead := c.dead.Has(proc)
	c.departed.Add(proc)
	c.letGoDue = true
	c.stepDetector(ev)
	if !wasDead {
		return
	}
	for cm := range c.comm.comms() {
		c.tellDeath(cm, proc)
	}
}

// setUniform sets whether failures revoke a communicator. In uniform mode no rank can miss a
// failure (C9): each member revokes by itself as soon as it learns of a death, and the revocation
// reaches the members that learn of the death later.
func (c *Control) setUniform(cm *communicator, on bool) {
	cm.uniform = on
	if on && cm.Failed().Len() > 0 {
		c.step(cm, commstate.Revoke{})
	}
}

// fence ends this process. Decisions of this Step are not reported to the program: a process that
// others declared dead returns no more results (A24).
func (c *Control) fence(why string) {
	c.fenced = true
	c.out = append(c.out[:0], Fenced{Why: why})
}

// send drops frames to processes that have ended: the dead are closed (A6, B21), and a process that
// left waits for nothing.
func (c *Control) send(to int, frame []byte) {
	if !c.dead.Has(to) && !c.left.Has(to) {
		c.act(Send{To: to, Frame: frame})
	}
}

func (c *Control) receive(from int, frame []byte) {
	if from < 0 || from >= c.cfg.N || from == c.cfg.Me || len(frame) == 0 {
		c.anomaly(from, "a frame of no process, or an empty one")
		return
	}
	if frame[0] == classDetector { // the detector notifies a declared process that it is dead
		c.stepDetector(fd.Receive{From: from, Msg: frame[1:]})
		return
	}
	if c.dead.Has(from) { // closed: frames that were in flight when the process was declared (A6)
		if c.lost.Has(from) { // the process still sends: it may not know that it is dead (F6)
			c.stepDetector(fd.Receive{From: from})
		}
		return
	}
	if err := c.deliver(from, frame[0], wire.NewReader(frame[1:])); err != nil {
		c.anomaly(from, err.Error())
	}
}

func (c *Control) deliver(from int, class byte, r *wire.Reader) error {
	switch class {
	case classMember:
		f, err := readMember(r)
		if err == nil {
			err = c.receiveMember(from, f)
		}
		return err
	case classDigest:
		digest := r.Uint64()
		if err := r.Done(); err != nil {
			return err
		}
		c.compare(from, digest)
	case classList:
		l, err := readList(r)
		if err != nil {
			return err
		}
		c.mergeList(from, l)
	case classClosed:
		n, err := readClosed(r)
		if err == nil {
			err = c.peerClosed(from, n)
		}
		return err
	default:
		return fmt.Errorf("a frame of class %d", class)
	}
	return nil
}

// receiveMember delivers a frame according to the state of the receiver's index.
func (c *Control) receiveMember(from int, f memberFrame) error {
	switch c.comm.state(f.to) {
	case Live:
		return c.give(c.comm.live(f.to), from, f)
	case Pending:
		return c.hold(from, f)
	case Freed:
		// A member that has not learnt that the communicator is closed may wait
		// for this process.
		g := c.comm.at(f.to).grave
		c.send(from, closedNote{to: f.from, ended: g.ended, orphans: g.orphans}.append(nil))
		return nil
	}
	return fmt.Errorf("a frame for context index %d, which was never drawn", f.to)
}

func (c *Control) give(cm *communicator, from int, f memberFrame) error {
	rank, belongs := cm.rank(from)
	if !belongs {
		return errNoMember(f.to, from)
	}
	if f.part == commstate.PartGather {
		return c.invited(cm, from, f.msg)
	}
	c.step(cm, commstate.Receive{From: rank, Part: f.part, Seq: f.seq, Msg: f.msg})
	return nil
}

func (c *Control) hold(from int, f memberFrame) error {
	w := c.comm.at(f.to).wait
	// The processes that a spawn starts are members, too, and not yet known here.
	if _, belongs := w.parent.rank(from); !belongs && !w.spawns {
		return errNoMember(f.to, from)
	}
	if !w.hold(from, f) {
		return fmt.Errorf("more than %d frames for pending communicator %d", heldPerPeer, f.to)
	}
	return nil
}

func errNoMember(index uint32, proc int) error {
	return fmt.Errorf("a frame for communicator %d, of which process %d cannot be a member", index, proc)
}

func (c *Control) commConfig(g commstate.Group) commstate.Config {
	cfg := commstate.Config{Group: g, Watchdog: c.cfg.Watchdog}
	inBlocks := HasBlocks(g.Indices, c.cfg.Blocks)
	cfg.SilentRevocation = c.cfg.SilentRevocation && inBlocks && (c.cfg.Together == nil || c.cfg.Together(g))
	if c.cfg.Memory != nil && inBlocks {
		cfg.Memory = c.cfg.Memory(g.Index, g)
	}
	return cfg
}

func (c *Control) act(a Action) {
	if !c.fenced {
		c.out = append(c.out, a)
	}
}

func (c *Control) anomaly(from int, text string) { c.act(Anomaly{From: from, Text: text}) }
