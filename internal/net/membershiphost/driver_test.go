package membershiphost

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A happening is one call of a Host.
type happening struct {
	at, member int
	what       string
}

type host struct {
	me  int
	all chan happening
}

func (h host) say(what string, member int) { h.all <- happening{h.me, member, what} }

func (h host) Lease(mono.Time)                 {}
func (h host) Freeze()                         { h.say("freeze", h.me) }
func (h host) Thaw()                           { h.say("thaw", h.me) }
func (h host) Declaration(member int)          { h.say("declaration", member) }
func (h host) Learned(int, []membership.Entry) {}
func (h host) Coordinator(member int)          { h.say("coordinator", member) }
func (h host) Suspect(int, mono.Duration)      {}
func (h host) Over(why string)                 { h.say("over: "+why, h.me) }
func (h host) Anomaly(member int, txt string)  { h.say("anomaly: "+txt, member) }

type job struct {
	t       *testing.T
	members []*Driver
	peers   []Peer
	begin   func(m int, absent rankset.Set, late bool)
	all     chan happening
	seen    map[happening]bool
}

// start starts the drivers of n members. Times are short, yet long enough for a busy machine.
func start(t *testing.T, n int) *job { return startDetecting(t, n, nil) }

// startDetecting is start with a ring that must meet the given quality.
func startDetecting(t *testing.T, n int, quality *adaptive.QoS) *job {
	return startWithout(t, n, quality, rankset.Set{})
}

// startWithout is startDetecting with members that have not joined yet.
func startWithout(t *testing.T, n int, quality *adaptive.QoS, absent rankset.Set) *job {
	return startAs(t, n, absent, func(_ int, cfg *Config) { cfg.Roster.Adaptive = quality })
}

// startAs is startWithout with a change to the configuration of each member.
func startAs(t *testing.T, n int, absent rankset.Set, change func(m int, cfg *Config)) *job {
	j := &job{t: t, all: make(chan happening, 1000), seen: map[happening]bool{}}
	trust, err := socket.NewTrust(1, bytes.Repeat([]byte{1}, socket.SecretSize))
	require.NoError(t, err)
	var peers []Peer
	var places []*Place
	for m := range n {
		p, err := Open(net.IPv4(127, 0, 0, 1))
		require.NoError(t, err)
		places, peers = append(places, p), append(peers, p.Peer(uint64(100+m)))
	}
	begun := time.Now()
	j.begin = func(m int, absent rankset.Set, late bool) {
		known := slices.Clone(peers)
		for other := range absent.All() {
			known[other] = Peer{}
		}
		cfg := Config{Trust: trust, Peers: known, Place: places[m], Host: host{m, j.all},
			Roster: membership.Config{Members: n, Me: m, Period: 100 * mono.Millisecond, Timeout: mono.Second, Orphan: 30 * mono.Second, Absent: absent, Late: late},
			Now:    func() mono.Time { return mono.Time(time.Since(begun)) }}
		change(m, &cfg)
		v, err := Start(cfg)
		require.NoError(t, err)
		j.members[m] = v
		t.Cleanup(v.Close)
	}
	j.members, j.peers = make([]*Driver, n), peers
	for m := range n {
		if !absent.Has(m) {
			j.begin(m, absent, false)
		}
	}
	return j
}

// TestMembersComeLate: an absent member is not suspected. When a member joins, the coordinator
// grants it a lease, the member learns of earlier deaths, and later all learn of its own end.
func TestMembersComeLate(t *testing.T) {
	j := startWithout(t, 5, nil, rankset.Of(3, 4))
	j.members[2].Close()
	j.await(happening{0, 2, "declaration"}, happening{1, 2, "declaration"})
	require.NoError(t, j.members[0].Admit(3, j.peers[3]))
	j.begin(3, rankset.Of(4), true)
	j.await(happening{3, 3, "freeze"}, happening{3, 3, "thaw"})
	require.NoError(t, j.members[1].Admit(3, j.peers[3]))
	require.NoError(t, j.members[1].Admit(3, j.peers[3]), "a second time")
	j.await(happening{3, 2, "declaration"})
	j.members[3].Close()
	j.await(happening{0, 3, "declaration"}, happening{1, 3, "declaration"})
	for h := range j.seen {
		assert.True(t, h.what != "declaration" || h.member == 2 || h.member == 3, "%v", h)
	}
}

// await waits until all of these have happened.
func (j *job) await(all ...happening) {
	j.t.Helper()
	limit := time.After(time.Minute)
	for _, h := range all {
		for !j.seen[h] {
			select {
			case now := <-j.all:
				j.seen[now] = true
			case <-limit:
				require.Fail(j.t, "never happened", "%v, but %v", h, j.seen)
			}
		}
	}
}

// TestDaemonEnds: all members learn of the end at once, long before its silence would show.
func TestDaemonEnds(t *testing.T) {
	j := start(t, 4)
	begun := time.Now()
	j.members[2].Close()
	j.await(happening{0, 2, "declaration"}, happening{1, 2, "declaration"}, happening{3, 2, "declaration"})
	t.Logf("all know after %s", time.Since(begun))
}

// TestStoppedMember: a stopped member is declared dead when its lease is over, and learns so when
// it continues. Its ranks stop before it learns anything.
func TestStoppedMember(t *testing.T) {
	t.Parallel()
	j := start(t, 4)
	j.members[1].Hold(true)
	j.await(happening{0, 1, "declaration"}, happening{2, 1, "declaration"}, happening{3, 1, "declaration"})
	j.members[1].Hold(false)
	j.await(happening{1, 1, "over: it was declared dead"})
	assert.True(t, j.seen[happening{1, 1, "freeze"}])
}

// TestStoppedMemberOfAQuality is the same test where the ring sends as few heartbeats as its
// quality permits.
func TestStoppedMemberOfAQuality(t *testing.T) {
	t.Parallel()
	j := startDetecting(t, 4, &adaptive.QoS{Detection: 5 * adaptive.Second / 2})
	j.members[1].Hold(true)
	j.await(happening{0, 1, "declaration"}, happening{2, 1, "declaration"}, happening{3, 1, "declaration"})
	j.members[1].Hold(false)
	j.await(happening{1, 1, "over: it was declared dead"})
	for h := range j.seen {
		assert.True(t, h.what != "declaration" || h.member == 1, "%v", h)
	}
}

// TestStoppedCoordinator: the ranks of all nodes stop, and the coordinator declares no member dead
// when it continues.
func TestStoppedCoordinator(t *testing.T) {
	t.Parallel()
	j := start(t, 3)
	j.members[0].Hold(true)
	j.await(happening{1, 1, "freeze"}, happening{2, 2, "freeze"})
	j.members[0].Hold(false)
	j.await(happening{1, 1, "thaw"}, happening{2, 2, "thaw"})
	for h := range j.seen {
		assert.NotEqual(t, "declaration", h.what)
	}
}

// TestCoordinatorEnds: the end of the coordinator ends all members.
func TestCoordinatorEnds(t *testing.T) {
	j := start(t, 3)
	j.members[0].Close()
	j.await(happening{1, 1, "over: its launcher is gone"}, happening{2, 2, "over: its launcher is gone"})
}

// TestCondemned: a condemned member receives no further grant. It is declared dead and learns so.
// Its freeze precedes the declaration by a few milliseconds only, so a test in virtual time covers
// it (package membership).
func TestCondemned(t *testing.T) {
	t.Parallel()
	j := start(t, 3)
	j.members[0].Condemn(2)
	j.await(happening{0, 2, "declaration"}, happening{2, 2, "over: it was declared dead"})
}

// TestStrangers: datagrams and connections of strangers have no effect.
func TestStrangers(t *testing.T) {
	j := start(t, 2)
	at := j.members[0].cfg.Peers[0]
	packets, err := net.Dial("udp", at.Packets)
	require.NoError(t, err)
	defer packets.Close()
	for range 100 {
		_, _ = packets.Write([]byte("goulfmd1 and what a stranger makes up, which is no code"))
		conn, err := net.Dial("tcp", at.Addr)
		require.NoError(t, err)
		_, _ = conn.Write(bytes.Repeat([]byte("x"), 64))
		conn.Close()
	}
	j.members[1].Close()
	j.await(happening{0, 1, "declaration"})
	assert.Len(t, j.seen, 1)
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 1, 2, 3})
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		msg, err := readFrame(bytes.NewReader(b))
		if err == nil {
			assert.Equal(t, b[4:4+len(msg)], msg)
		}
	})
}
