package control

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// cluster is some processes and a FIFO queue of frames between each two.
type cluster struct {
	t     testing.TB
	procs []*Control
	dead  rankset.Set  // killed: these processes do nothing more
	gone  rankset.Set  // left
	queue [][][][]byte // queue[from][to]
	token uint64       // of the last Propose
	got   []map[uint64]Decided
	count []counts
	log   func(format string, args ...any)
	sends bool // log sends
	moved bool // memory: some process may have to poll
}

// onNode makes the clusters that follow agree in memory, with few blocks.
var onNode bool

// testBlocks is the number of blocks of a process then.
const testBlocks = 3

// share makes the processes of a cluster agree in memory.
func (c *cluster) share(heap *onenode.Heap, p int, cfg Config) Config {
	cfg.Blocks = testBlocks
	cfg.Prepare = func(index uint32) { heap.Prepare(p, index, 2) }
	cfg.Memory = func(_ uint32, g commstate.Group) (m commstate.Memory) {
		of := onenode.Sharing{Procs: g.Procs, Indices: g.Indices, Me: g.Me}
		if procsPerNode > 0 {
			m.Nodes, of = teamsOf(g)
			m.Tag = of.Indices[0]
		}
		m.Repair = heap.Open(of)
		of.Part = 1
		m.Create = heap.Open(of)
		return m
	}
	return cfg
}

// procsPerNode is the number of processes of a node, in tests of several nodes; 0: all are on one
// node.
var procsPerNode = 0

// teamsOf returns the ranks of a group by node, and the sharing of the ranks on this process's
// node.
func teamsOf(g commstate.Group) (teams [][]int, mine onenode.Sharing) {
	node := func(rank int) int { return g.Procs[rank] / procsPerNode }
	for r := range g.Procs {
		i := slices.IndexFunc(teams, func(t []int) bool { return node(t[0]) == node(r) })
		if i < 0 {
			i, teams = len(teams), append(teams, nil)
		}
		teams[i] = append(teams[i], r)
		if node(r) == node(g.Me) {
			if r == g.Me {
				mine.Me = len(mine.Procs)
			}
			mine.Procs, mine.Indices = append(mine.Procs, g.Procs[r]), append(mine.Indices, g.Indices[r])
		}
	}
	return teams, mine
}

// look lets every process poll every communicator.
func (c *cluster) look() {
	for p, ctl := range c.procs {
		for i := range ctl.comm.entries.n {
			if ctl.Looking(i) {
				c.step(p, Look{Comm: i})
			}
		}
	}
}

// counts holds the number of each action of a process that must come once.
type counts struct {
	declared map[int]int
	revoked  map[uint32]int
	forgot   map[uint32]int
	reserved map[uint32]int
	anomaly  []string
	fenced   bool
}

func newCluster(t testing.TB, n int) *cluster { return newClusterWith(t, n, Config{}) }

func newClusterWith(t testing.TB, n int, cfg Config) *cluster {
	c := &cluster{t: t, log: func(string, ...any) {}}
	heap := onenode.NewHeap(testBlocks, func(onenode.Sharing) { c.moved = true })
	for p := range n {
		cfg.N, cfg.Me = n, p
		if onNode {
			cfg = c.share(heap, p, cfg)
		}
		c.procs = append(c.procs, New(cfg))
		c.got = append(c.got, map[uint64]Decided{})
		c.queue = append(c.queue, make([][][]byte, n))
		c.count = append(c.count, counts{map[int]int{}, map[uint32]int{}, map[uint32]int{}, map[uint32]int{}, nil, false})
	}
	return c
}

// step gives p an event and carries out its actions.
func (c *cluster) step(p int, ev Event) []Action {
	if c.dead.Has(p) || c.gone.Has(p) {
		return nil
	}
	acts := c.procs[p].Step(ev)
	for _, a := range acts {
		c.take(p, a)
	}
	return acts
}

func (c *cluster) take(p int, a Action) {
	k := &c.count[p]
	switch a := a.(type) {
	case Send:
		c.queue[p][a.To] = append(c.queue[p][a.To], a.Frame)
		if c.sends {
			c.log("%d: send %d %s", p, a.To, frameText(a.Frame))
		}
		return
	case Declared:
		k.declared[a.Proc]++
	case Revoked:
		k.revoked[a.Comm]++
		if k.forgot[a.Comm] > 0 {
			c.t.Errorf("process %d: communicator %d is revoked after it was forgotten", p, a.Comm)
		}
	case Reserved:
		k.reserved[a.Index]++
	case Forgotten:
		k.forgot[a.Index]++
	case Anomaly:
		k.anomaly = append(k.anomaly, a.Text)
	case Fenced:
		k.fenced = true
	case Decided:
		if _, twice := c.got[p][a.Token]; twice {
			c.t.Errorf("process %d: token %d decided twice", p, a.Token)
		}
		c.got[p][a.Token] = a
		c.knowsRevoked(p, a)
	}
	c.log("%d: %s", p, actionText(a))
}

// knowsRevoked checks that a call ends with "revoked" only after its caller has learnt that the
// communicator is revoked, unless the caller has closed the communicator.
func (c *cluster) knowsRevoked(p int, a Decided) {
	cm := c.procs[p].comm.live(a.Comm)
	if errors.Is(a.Outcome.Err, ulfm.ErrRevoked) && c.count[p].revoked[a.Comm] == 0 && cm != nil && !cm.Closing() {
		c.t.Errorf("process %d: call %d ends with %v, and communicator %d is not revoked there", p, a.Token, a.Outcome.Err, a.Comm)
	}
}

// deliver gives process to the oldest frame from process from, if there is one.
func (c *cluster) deliver(from, to int) bool {
	q := c.queue[from][to]
	if len(q) == 0 {
		return false
	}
	c.queue[from][to] = q[1:]
	c.step(to, Receive{From: from, Frame: q[0]})
	return true
}

// run delivers all frames in flight.
func (c *cluster) run() {
	all := make([]int, len(c.procs))
	for p := range all {
		all[p] = p
	}
	c.runAmong(all)
}

// runAmong delivers all frames in flight between these processes.
func (c *cluster) runAmong(procs []int) {
	for moved := true; moved; {
		moved = false
		for _, from := range procs {
			for _, to := range procs {
				moved = c.deliver(from, to) || moved
			}
		}
		if c.moved {
			c.moved, moved = false, true
			c.look()
		}
	}
}

// runUntilClosing delivers frames in flight, except frames of closing agreements and the frames
// behind them.
func (c *cluster) runUntilClosing() {
	for moved := true; moved; {
		moved = false
		for from, queues := range c.queue {
			for to, q := range queues {
				if len(q) > 0 && !strings.HasPrefix(frameText(q[0]), commstate.SeriesClose.String()) {
					moved = c.deliver(from, to)
				}
			}
		}
		if c.moved {
			c.moved, moved = false, true
			c.look()
		}
	}
}

// die stops p; its frames are still in flight.
func (c *cluster) die(p int) { c.dead.Add(p) }

// lose drops the frames that p has sent and no process has received.
func (c *cluster) lose(p int) {
	for to := range c.queue[p] {
		c.queue[p][to] = nil
	}
}

// notice reports to every live process that p has ended.
func (c *cluster) notice(p int) {
	for q := range c.procs {
		if q != p {
			c.step(q, Exited{Proc: p})
		}
	}
}

func (c *cluster) kill(p int) {
	c.die(p)
	c.notice(p)
}

func (c *cluster) live() []int {
	var live []int
	for p := range c.procs {
		if !c.dead.Has(p) && !c.gone.Has(p) {
			live = append(live, p)
		}
	}
	return live
}

// propose makes p call something and returns the token.
func (c *cluster) propose(p int, ev Propose) uint64 {
	c.token++
	ev.Token = c.token
	c.step(p, ev)
	return ev.Token
}

// all makes every live process make the same call on its own index of a communicator, runs, and
// returns the decisions by process.
func (c *cluster) all(index func(p int) uint32, ev Propose) map[int]Decided {
	tokens := map[int]uint64{}
	for _, p := range c.live() {
		ev.Comm = index(p)
		tokens[p] = c.propose(p, ev)
	}
	c.run()
	got := map[int]Decided{}
	for _, p := range c.live() {
		if d, ok := c.got[p][tokens[p]]; ok {
			got[p] = d
		} else if !c.count[p].fenced {
			c.t.Errorf("process %d has no decision on %v:\n%s", p, ev.Call, c.procs[p].Describe())
		}
	}
	return got
}

func world(int) uint32 { return World }

func call(k commstate.Kind) Propose { return Propose{Call: commstate.Call{Kind: k}, Flag: ^uint64(0)} }

func actionText(a Action) string {
	switch a := a.(type) {
	case Declared:
		return fmt.Sprintf("declared %d by %v", a.Proc, a.Evidence)
	case Suspected:
		return fmt.Sprintf("suspected %d", a.Proc)
	case Revoked:
		return fmt.Sprintf("revoked %d", a.Comm)
	case Reserved:
		return fmt.Sprintf("reserved %d on %d", a.Index, a.Parent)
	case Forgotten:
		return fmt.Sprintf("forgotten %d", a.Index)
	case Fenced:
		return "fenced: " + a.Why
	case Anomaly:
		return fmt.Sprintf("anomaly from %d: %s", a.From, a.Text)
	case Placed:
		return fmt.Sprintf("finalize has been found on %d", a.Comm)
	case Decided:
		return decidedText(a)
	}
	return fmt.Sprintf("%T", a)
}

func decidedText(a Decided) string {
	o := a.Outcome
	text := fmt.Sprintf("decided %d %v/%d on %d", a.Token, o.Call, o.Seq, a.Comm)
	if o.Call.Kind == commstate.KindAgree {
		text += fmt.Sprintf(" flag %#x", o.Flag)
	}
	if len(o.Dead) > 0 {
		text += fmt.Sprintf(" dead %v", o.Dead)
	}
	if o.Err != nil {
		text += fmt.Sprintf(" error %q", o.Err)
	}
	if o.New != nil {
		text += fmt.Sprintf(" new %d: rank %d of procs %v with indices %v", o.New.Index, o.New.Me, o.New.Procs, o.New.Indices)
	}
	return text
}

func frameText(frame []byte) string {
	r := wire.NewReader(frame[1:])
	switch frame[0] {
	case classDetector:
		return "detector"
	case classMember:
		f, _ := readMember(r)
		if f.part == commstate.PartRevoke {
			return fmt.Sprintf("revoke to index %d", f.to)
		}
		if f.part == commstate.PartGather {
			v, _ := readInvitation(0, f.msg)
			return fmt.Sprintf("invitation to index %d, my index %d", f.to, v.index)
		}
		return fmt.Sprintf("%v/%d to index %d", commstate.Series(f.part), f.seq, f.to)
	case classDigest:
		return "digest"
	case classList:
		l, _ := readList(r)
		return fmt.Sprintf("list of %d", len(l.uids))
	case classClosed:
		n, _ := readClosed(r)
		return fmt.Sprintf("closed, your index %d, ended %v", n.to, n.ended)
	}
	return "?"
}

// command carries out one line of a script.
func (c *cluster) command(line string) error {
	w := strings.Fields(line)
	num := func(i int) int {
		if i >= len(w) {
			c.t.Fatalf("%q: argument %d is missing", line, i)
		}
		v, err := strconv.Atoi(w[i])
		if err != nil {
			c.t.Fatalf("%q: %v", line, err)
		}
		return v
	}
	switch w[0] {
	case "sends":
		c.sends = w[1] == "on"
	case "run": // between all processes, or between the named ones
		var procs []int
		for i := range w[1:] {
			procs = append(procs, num(i+1))
		}
		if len(procs) == 0 {
			c.run()
		}
		c.runAmong(procs)
	case "until-closing":
		c.runUntilClosing()
	case "deliver":
		if !c.deliver(num(1), num(2)) {
			return fmt.Errorf("nothing on the way from %s to %s", w[1], w[2])
		}
	case "die":
		c.die(num(1))
	case "kill":
		c.kill(num(1))
	case "lose":
		c.lose(num(1))
	case "notice":
		for _, q := range w[2:] {
			p, err := strconv.Atoi(q)
			if err != nil {
				return err
			}
			c.step(p, Exited{Proc: num(1)})
		}
		if len(w) == 2 {
			c.notice(num(1))
		}
	case "left":
		c.gone.Add(num(1))
		for _, q := range c.live() {
			c.step(q, Left{Proc: num(1)})
		}
	case "uniform":
		c.step(num(1), Uniform{Comm: uint32(num(2)), On: w[3] == "on"})
	case "revoke":
		c.step(num(1), Revoke{Comm: uint32(num(2))})
	case "outlived": // PROC INDEX BY: by process BY, of the communicator that has this index at BY
		g := c.procs[num(3)].comm.live(uint32(num(2))).Group()
		c.step(num(1), Outlived{g.UID.RevokedBy(num(3))})
	case "ack":
		n, err := c.procs[num(1)].Failed(uint32(num(2))).Ack(num(3))
		c.log("%s: acknowledged %d, error %v", w[1], n, err)
	case "failed":
		f := c.procs[num(1)].Failed(uint32(num(2)))
		if f == nil {
			return fmt.Errorf("communicator %s is %v at %s", w[2], c.procs[num(1)].State(uint32(num(2))), w[1])
		}
		c.log("%s: failed %v acked %v", w[1], f.All(), f.Acked())
	case "state":
		c.log("%s", strings.TrimSuffix(c.procs[num(1)].Describe(), "\n"))
	case "waits":
		c.log("%s: waits for %v", w[1], c.procs[num(1)].WaitsFor(uint32(num(2)), uint64(num(3))))
	default:
		return c.proposeCommand(w, num)
	}
	return nil
}

// proposeCommand is "KIND PROC|all COMM [flag=N] [color=N] [key=N] [veto] [members=N,N,...]
// [tag=N]".
func (c *cluster) proposeCommand(w []string, num func(int) int) error {
	kinds := []commstate.Kind{commstate.KindAgree, commstate.KindAgreeFailed, commstate.KindShrink, commstate.KindDup, commstate.KindSplit, commstate.KindClose, commstate.KindFinalize, commstate.KindCreateGroup}
	i := slices.IndexFunc(kinds, func(k commstate.Kind) bool { return k.String() == w[0] })
	if i < 0 {
		return fmt.Errorf("unknown command %q", w[0])
	}
	ev := Propose{Call: commstate.Call{Kind: kinds[i]}, Comm: uint32(num(2)), Flag: ^uint64(0)}
	for _, arg := range w[3:] {
		key, text, _ := strings.Cut(arg, "=")
		v, _ := strconv.Atoi(text)
		switch key {
		case "flag":
			ev.Flag = uint64(v)
		case "color":
			ev.Color = v
		case "key":
			ev.Key = v
		case "tag":
			ev.Tag = v
		case "members":
			for _, m := range strings.Split(text, ",") {
				p, err := strconv.Atoi(m)
				if err != nil {
					return err
				}
				ev.Members = append(ev.Members, p)
			}
		case "veto":
			ev.Veto = true
		default:
			return fmt.Errorf("unknown argument %q", arg)
		}
	}
	if w[1] != "all" {
		c.propose(num(1), ev)
		return nil
	}
	for _, p := range c.live() {
		c.propose(p, ev)
	}
	return nil
}
