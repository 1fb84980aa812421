package daemonclient

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
)

// Nodes that join late. A job may have node slots for more nodes than it begins with, each with its
// slots. Such a node is not missed, and nothing is started there, until a daemon joins. Each node
// slot is used once: the slot of a lost node is not given to the next.
//
//	engine            launcher                          late daemon          other daemons
//	starts a daemon
//	                  Invite: node slot, bootstrap ──▶
//	                                               ◀──  Hello
//	                  Plan                         ──▶
//	                                               ◀──  Ready
//	                  is a member for the launcher
//	                  Table, departures, Go        ──▶  begins its Driver
//	                                               ◀──  Begun
//	                  Welcome                      ────────────────────▶     know its address
//	                                               ◀────────────────────     Welcomed
//	                  its slots are free: repairs, spares and Spawn
//
// All steps from the Table on run on the starter of processes, one after the other. So between the
// notices to the late node and the notices to the others no process is started, and no slot is
// reassigned.
type late struct {
	m    *muster
	mu   sync.Mutex    // for the owners of node slots
	over chan struct{} // closed: nobody comes any more
	once sync.Once
}

var errOver = errors.New("the job takes no more nodes")

func (l *late) begin(m *muster) { l.m, l.over = m, make(chan struct{}) }

// end refuses all further daemons.
func (l *late) end() {
	l.once.Do(func() {
		close(l.over)
		l.m.cargo.close()
	})
}

func (l *late) isOver() bool { return isShut(l.over) }

// there are the nodes that take part, or have: lost ones are among them.
func (f *Client) there() (all []*node) {
	for _, n := range f.nodes {
		if n.is(isThere) {
			all = append(all, n)
		}
	}
	return all
}

// Invite returns the bootstrap of a daemon that joins late, for the node slot of a node of that
// name. The node slot is reserved for Config.Within. If there is no room, or not yet, or the job is
// over, ok is false.
func (f *Client) Invite(name string) (bootstrap []byte, ok bool) {
	f.mu.Lock()
	runs := f.begun && !f.isOver
	f.mu.Unlock()
	l := &f.late
	if !runs || l.isOver() {
		return nil, false
	}
	addrs, err := l.m.addrs()
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
		bootstrap, err = l.m.bootstrap(n, addrs)
		return bootstrap, err == nil
	}
	return nil, false
}

// admit takes arriving daemons in.
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

// receive takes one daemon in. A daemon that was not invited, or has lost its node slot to another
// one, is not answered.
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

// prepare makes a node ready that no other node has learned of.
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

// take makes a node take part. Its slots are barred until all others know the node. The result is
// whether they are free then.
func (l *late) take(n *node) bool {
	f := l.m.f
	n.isNew.Store(true)
	if err := f.driver.Admit(n.index+1, membershiphost.Peer(n.member)); err != nil {
		n.conn.Close()
		f.host.Note("node", "%s does not come: %v", n, err)
		return false // its node slot is lost: the launcher's rules miss it now
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
		f.host.Note("node", "%s is there, and gets no ranks: %v", n, err)
		return false
	}
	n.isNew.Store(false)
	f.host.Note("came", "%s has come: %d ranks can be started there", n, len(n.slots))
	return true
}

// tell sends a node all notices that the others have received; false: the job is over.
func (l *late) tell(n *node) bool {
	f := l.m.f
	f.telling.Lock()
	defer f.telling.Unlock()
	if l.isOver() { // all have the notice to settle, which this node would miss
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

// introduce makes a node known to all other nodes.
func (l *late) introduce(n *node) error {
	welcome := daemonproto.Welcome{Node: n.index, Member: n.member, Slots: n.slots, Addrs: n.ready.Addrs, Births: n.ready.Births}
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

// history is the record of orders that a late node must receive because all others have received
// them before. It is bounded by the slots. Its lock is Client.telling.
type history struct {
	announced daemonproto.Announce
	// by number: departed processes whose slot has no other process yet
	departed map[int]daemonproto.Declare
}

// note records an order to all nodes.
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

// forget notes that the slot of a process is free for the next one.
func (h *history) forget(proc int) { delete(h.departed, proc) }

// all returns the history in the order of delivery.
func (h *history) all() (all []daemonproto.Message) {
	all = append(all, h.announced)
	for _, m := range h.departed {
		all = append(all, m)
	}
	return all
}
