package daemonclient

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
)

// Nodes that come late. A job may have rows for more nodes than it begins with, each with its
// seats; nobody is missed there, and nothing is started there, until a daemon comes. Each row is
// taken once: a lost node's is not given to the next.
//
//	engine            launcher                          late daemon          daemons of other nodes
//	starts a daemon
//	                  Invite: a row, a bootstrap   ──▶
//	                                               ◀──  Hello
//	                  Plan                         ──▶
//	                                               ◀──  Ready
//	                  is a member for the launcher
//	                  Table, what has departed, Go ──▶  begins its vigil
//	                                               ◀──  Begun
//	                  Welcome                      ────────────────────▶     know where it is
//	                                               ◀────────────────────     Welcomed
//	                  its seats are free: repairs, spares and Spawn
//
// All from the Table on is done where processes are started, one thing after the other: so nobody
// is started, and no seat is given away, between what the late node is told and what the others
// are.
type late struct {
	m    *muster
	mu   sync.Mutex    // who has which row
	over chan struct{} // closed: nobody comes any more
	once sync.Once
}

var errOver = errors.New("the job takes no more nodes")

func (l *late) begin(m *muster) { l.m, l.over = m, make(chan struct{}) }

// end has nobody come any more.
func (l *late) end() {
	l.once.Do(func() {
		close(l.over)
		l.m.cargo.close()
	})
}

func (l *late) isOver() bool { return isShut(l.over) }

// there are the nodes that take part, or have: lost ones are among them.
func (f *Fleet) there() (all []*node) {
	for _, n := range f.nodes {
		if n.is(isThere) {
			all = append(all, n)
		}
	}
	return all
}

// Invite returns what a daemon has to be told that comes late, for the row of a node of that name;
// ok is false where there is no room, or not yet, or the job is over. The row is kept for it for
// Config.Within.
func (f *Fleet) Invite(name string) (bootstrap []byte, ok bool) {
	f.mu.Lock()
	runs := f.begun && !f.isOver
	f.mu.Unlock()
	l := &f.late
	if !runs || l.isOver() {
		return nil, false
	}
	heads, err := l.m.heads()
	if err != nil {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range f.nodes {
		if !n.become(isAbsent, isInvited) {
			continue
		}
		n.name = name
		time.AfterFunc(l.m.cfg.Within, func() { n.become(isInvited, isAbsent) })
		bootstrap, err = l.m.bootstrap(n, heads)
		return bootstrap, err == nil
	}
	return nil, false
}

// admit takes in who comes.
func (l *late) admit() {
	for {
		select {
		case a := <-l.m.arrived:
			go l.receive(a)
		case <-l.over:
			return
		}
	}
}

// receive takes one daemon in. One that was not invited, or whose row another one has by now, is
// not answered.
func (l *late) receive(a arrival) {
	f, i := l.m.f, a.hello.Node
	if i < 0 || i >= len(f.nodes) || !f.nodes[i].become(isInvited, isComing) {
		a.conn.Close()
		return
	}
	n := f.nodes[i]
	if err := l.prepare(n, a); err != nil {
		a.conn.Close()
		who := n.String()
		n.conn, n.in, n.mouth = nil, nil, nil
		n.become(isComing, isAbsent) // for the next one
		f.host.Note("node", "%s does not come: %v", who, err)
		return
	}
	came := false
	f.OnStarter(func() { came = l.take(n) })
	if came && l.m.cfg.Came != nil {
		l.m.cfg.Came()
	}
}

// prepare has a node ready, of which nobody else has heard.
func (l *late) prepare(n *node, a arrival) error {
	_ = a.conn.SetReadDeadline(time.Now().Add(l.m.cfg.Within))
	if err := l.m.meet(n, a); err != nil {
		return err
	}
	n.mouth.Say(l.m.plan(n))
	if err := n.awaitReady(); err != nil {
		return err
	}
	if n.ready.Lacks && l.m.cargo != nil {
		if err := l.m.cargo.ship(n); err != nil {
			return err
		}
	}
	return a.conn.SetReadDeadline(time.Time{})
}

// take has a node take part. Its seats are barred until all others know it. It returns whether they
// are free then.
func (l *late) take(n *node) bool {
	f := l.m.f
	n.isNew.Store(true)
	if err := f.vigil.Admit(n.index+1, membershiphost.Peer(n.member)); err != nil {
		n.conn.Close()
		f.host.Note("node", "%s does not come: %v", n, err)
		return false // its row is lost: the launcher's rules miss it now
	}
	if !l.tell(n) {
		n.conn.Close()
		return false
	}
	go n.listen()
	if err := n.awaitBegun(); err != nil {
		f.host.Note("node", "%s does not come: %v", n, err)
		return false
	}
	if err := l.introduce(n); err != nil {
		f.host.Note("node", "%s is there, and gets no processes: %v", n, err)
		return false
	}
	n.isNew.Store(false)
	f.host.Note("came", "%s has come: %d processes can be started there", n, len(n.seats))
	return true
}

// tell has a node know what all others know; false: the job is over.
func (l *late) tell(n *node) bool {
	f := l.m.f
	f.telling.Lock()
	defer f.telling.Unlock()
	if l.isOver() { // all are told to settle, and this one would not be
		return false
	}
	n.become(isComing, isThere)
	table := l.m.table()
	table.Members, table.Late = l.m.members(n), true
	f.mu.Lock()
	table.Used = append(table.Used, f.used...)
	f.mu.Unlock()
	n.mouth.Say(table)
	for _, m := range f.history.all() {
		n.mouth.Say(m)
	}
	n.mouth.Say(daemonproto.Go{})
	return true
}

// introduce has all others know a node.
func (l *late) introduce(n *node) error {
	welcome := daemonproto.Welcome{Node: n.index, Member: n.member, Seats: n.seats, Addrs: n.ready.Addrs, Births: n.ready.Births}
	var why error
	for _, other := range l.m.f.there() {
		if other != n && !other.isLost() {
			other.mouth.Say(welcome)
			select {
			case said := <-other.welcomed:
				if said.Why != "" {
					why = fmt.Errorf("%s: %s", other, said.Why)
				}
			case <-other.lost:
			}
		}
	}
	return why
}

// history is what a node that comes late has to be told of what all others were told before. It is
// bounded by the seats. The holder of Fleet.telling has it.
type history struct {
	announced daemonproto.Announce
	departed  map[int]daemonproto.Declare // by number: processes whose seats no other one has yet
}

// note notes what all are told.
func (h *history) note(m daemonproto.Message) {
	switch m := m.(type) {
	case daemonproto.Announce:
		h.announced.N = max(h.announced.N, m.N)
	case daemonproto.Declare:
		if h.departed == nil {
			h.departed = map[int]daemonproto.Declare{}
		}
		if _, known := h.departed[m.Proc]; !known {
			h.departed[m.Proc] = m
		}
	}
}

// forget notes that the seat of a process is free for the next one.
func (h *history) forget(proc int) { delete(h.departed, proc) }

// all returns it in the order in which it is told.
func (h *history) all() (all []daemonproto.Message) {
	all = append(all, h.announced)
	for _, m := range h.departed {
		all = append(all, m)
	}
	return all
}
