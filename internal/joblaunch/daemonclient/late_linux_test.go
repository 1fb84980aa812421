package daemonclient

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A puppet is a daemon without processes: it answers its orders, and records them.
type puppet struct {
	t     *testing.T
	build uint32 // of its Hello

	mu     sync.Mutex
	more   sync.Cond
	told   []daemonproto.Message
	mute   bool // it does not answer Welcome
	deaf   bool // it answers no question about slots
	all    []job.Holding
	why    string // it cannot vacate a slot
	mouth  *daemonproto.Mouth
	conn   *socket.Lasting
	driver *membershiphost.Driver
	gone   chan struct{}       // closed: its life is over
	waits  daemonproto.Welcome // that was not answered
}

func newPuppet(t *testing.T) *puppet {
	p := &puppet{t: t, build: buildid.Build, gone: make(chan struct{})}
	p.more.L = &p.mu
	return p
}

// live is its life, from its bootstrap to the end of the job.
func (p *puppet) live(bootstrap []byte) {
	defer close(p.gone)
	var b daemonproto.Bootstrap
	if !assert.NoError(p.t, json.Unmarshal(bootstrap, &b)) {
		return
	}
	trust, err := socket.NewTrust(b.Job, b.Secret)
	if err == nil {
		trust, err = trust.In(socket.Auth)
	}
	if !assert.NoError(p.t, err) {
		return
	}
	conn, err := trust.DialLasting(context.Background(), b.Addrs[0], b.Birth)
	if !assert.NoError(p.t, err) {
		return
	}
	defer conn.Close()
	place, err := membershiphost.Open(net.IPv4(127, 0, 0, 1))
	if !assert.NoError(p.t, err) {
		return
	}
	birth := daemon.NewIdentity()
	p.mouth = daemonproto.NewMouth(conn)
	p.mouth.Say(daemonproto.Hello{Node: b.Node, Member: daemonproto.Member(place.Peer(birth)), Build: p.build, Host: "h"})
	in := daemonproto.NewReader(conn)
	for {
		m, err := in.Next()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case daemonproto.Plan:
			p.mouth.Say(daemonproto.Ready{Addrs: make([]string, len(m.Slots)), Births: make([]uint64, len(m.Slots))})
		case daemonproto.Table:
			v, err := p.watch(m, b, trust, place)
			if !assert.NoError(p.t, err) {
				return
			}
			defer v.Close()
			p.conn, p.driver = conn, v
		case daemonproto.Start:
			p.mouth.Say(daemonproto.Started{Proc: m.Proc, Pid: unknown})
		case daemonproto.Go:
			p.mouth.Say(daemonproto.Begun{})
		case daemonproto.Welcome:
			p.welcome(m)
		case daemonproto.Census:
			p.mu.Lock()
			if !p.deaf {
				p.mouth.Say(daemonproto.Holdings{All: p.all})
			}
			p.mu.Unlock()
		case daemonproto.Vacate:
			p.mu.Lock()
			if !p.deaf {
				p.mouth.Say(daemonproto.Vacated{Proc: m.Proc, Why: p.why})
			}
			p.mu.Unlock()
		case daemonproto.Settle:
			p.mouth.Say(daemonproto.Settled{})
		}
		p.mu.Lock()
		p.told = append(p.told, m)
		p.more.Broadcast()
		p.mu.Unlock()
	}
}

func (p *puppet) welcome(m daemonproto.Welcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mute {
		p.waits = m
		return
	}
	p.mouth.Say(daemonproto.Welcomed{Node: m.Node})
}

// speak answers the Welcome that was not answered.
func (p *puppet) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = false
	p.mouth.Say(daemonproto.Welcomed{Node: p.waits.Node})
}

// silence has the puppet answer no question about slots any more.
func (p *puppet) silence() {
	p.mu.Lock()
	p.deaf = true
	p.mu.Unlock()
}

// reply sets the answers to questions about slots: these slots are of departed processes, and no
// slot can be vacated if why is an error.
func (p *puppet) reply(why error, all ...job.Holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all, p.why = all, ""; why != nil {
		p.why = why.Error()
	}
}

// die ends the daemon like a kill.
func (p *puppet) die() {
	p.conn.Close()
	p.driver.Close()
}

// watch has the launcher learn of it.
func (p *puppet) watch(t daemonproto.Table, b daemonproto.Bootstrap, trust *socket.Trust, place *membershiphost.Place) (*membershiphost.Driver, error) {
	cfg := membershiphost.Config{Trust: trust, Place: place, Host: deaf{}, Now: func() mono.Time { return mono.Time(boot.LeaseNowNs()) }, Roster: t.Roster(b.Node + 1)}
	for _, m := range t.Members {
		cfg.Peers = append(cfg.Peers, membershiphost.Peer(m))
	}
	return membershiphost.Start(cfg)
}

// await waits until an order satisfies is, and returns all orders up to then.
func (p *puppet) await(is func(daemonproto.Message) bool) []daemonproto.Message {
	late := false
	timer := time.AfterFunc(soon, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.more.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !late {
		for i, m := range p.told {
			if is(m) {
				return p.told[:i+1]
			}
		}
		p.more.Wait()
	}
	require.Fail(p.t, "an order does not come", "but %v", p.told)
	return nil
}

// deaf is a host that has nothing to do.
type deaf struct{}

func (deaf) Lease(mono.Time)                 {}
func (deaf) Freeze()                         {}
func (deaf) Thaw()                           {}
func (deaf) Declaration(int)                 {}
func (deaf) Learned(int, []membership.Entry) {}
func (deaf) Coordinator(int)                 {}
func (deaf) Suspect(int, mono.Duration)      {}
func (deaf) Over(string)                     {}
func (deaf) Anomaly(int, string)             {}

// puppets start as the daemons of nodes.
type puppets struct {
	all    []*puppet
	invite func(string) ([]byte, bool)
}

func (p *puppets) Start(node int, _ string, bootstrap []byte, _ func(error)) (func(bool), error) {
	go p.all[node].live(bootstrap)
	return func(bool) {}, nil
}

func (p *puppets) Opens(invite func(string) ([]byte, bool)) { p.invite = invite }

// patient are times by which nobody is lost for standing still.
var patient = daemonproto.Beats{Period: 200 * time.Millisecond, Timeout: time.Minute, Confirm: time.Minute, Link: 5 * time.Minute, Orphan: 5 * time.Minute}

// A silent host of a client.
type silentHost struct{ notes chan string }

func (h silentHost) Found(int, job.Evidence, bool, int64) {}
func (h silentHost) Reaped(int, job.Status)               {}
func (h silentHost) Heard(int)                            {}
func (h silentHost) NoLife(int, int64)                    {}
func (h silentHost) Said(int, rankproto.Received) error   { return nil }
func (h silentHost) Note(event, _ string, _ ...any)       { h.notes <- event }

// TestLateNode: a late node receives the orders that all others received before: the departures,
// and how many processes the slots had. Its slots are free when the others know its address.
func TestLateNode(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t), newPuppet(t)}}
	host := silentHost{make(chan string, 100)}
	f, err := New(t.Context(), host, Config{Names: []string{"a", "b"}, Late: 1, Nodes: []int{0, 0, 1, 1, 2, 2}, Ranks: 2, Starter: p, Within: time.Minute, Secure: socket.Auth, Iface: "127.0.0.1", Beats: patient})
	require.NoError(t, err)
	defer f.Close()
	_, ok := p.invite("early")
	assert.False(t, ok, "the job has not begun")
	require.True(t, f.Expect(1), "it lasts")
	f.Announce(3)
	require.NoError(t, f.Begin(func() error { return nil }))
	assert.Equal(t, []int{4, 5}, f.Barred(), "nobody is there")

	f.Declare(0, false)
	f.Declare(1, true)
	f.Declare(1, false) // a duplicate
	require.NoError(t, f.Vacate(0))
	p.all[1].mute = true
	late := newPuppet(t)
	place, ok := p.invite("c")
	require.True(t, ok)
	_, ok = p.invite("d")
	assert.False(t, ok, "the node slot is kept for c")
	go late.live(place)

	told := late.await(func(m daemonproto.Message) bool { return m == daemonproto.Go{} })
	require.Len(t, told, 5, "%v", told)
	table := told[1].(daemonproto.Table)
	assert.True(t, table.Late)
	assert.Empty(t, table.Absent)
	assert.Equal(t, []int{1, 0, 0, 0, 0, 0}, table.Used)
	assert.Equal(t, []daemonproto.Message{daemonproto.Announce{N: 3}, daemonproto.Declare{Proc: 1, Left: true}}, told[2:4])

	isWelcome := func(m daemonproto.Message) bool { _, is := m.(daemonproto.Welcome); return is }
	p.all[0].await(isWelcome)
	p.all[1].await(isWelcome)
	assert.Equal(t, []int{4, 5}, f.Barred(), "one does not know yet where it is")
	p.all[1].speak()
	assert.Equal(t, "came", <-host.notes)
	assert.Empty(t, f.Barred())
	_, ok = p.invite("e")
	assert.False(t, ok, "no node slot")

	f.Declare(2, false)
	late.await(func(m daemonproto.Message) bool { return m == daemonproto.Declare{Proc: 2} })
	f.EndLeftovers()
	_, ok = p.invite("f")
	assert.False(t, ok, "the job is over")
}

// TestLateNodeOfAnotherBuild does not come, and its node slot is free for the next.
func TestLateNodeOfAnotherBuild(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t)}}
	host := silentHost{make(chan string, 100)}
	f, err := New(t.Context(), host, Config{Names: []string{"a"}, Late: 1, Nodes: []int{0, 1}, Ranks: 1, Starter: p, Within: time.Minute, Secure: socket.Auth, Iface: "127.0.0.1", Beats: patient})
	require.NoError(t, err)
	defer f.Close()
	require.True(t, f.Expect(1))
	require.NoError(t, f.Begin(func() error { return nil }))
	place, ok := p.invite("b")
	require.True(t, ok)
	other := newPuppet(t)
	other.build++
	other.live(place)
	assert.Equal(t, "node", <-host.notes)
	_, ok = p.invite("c")
	assert.True(t, ok)
	assert.Equal(t, rankset.Of(2), f.late.m.roster().Absent)
}
