package daemonclient

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A ledger is a host that records the reports of a client, in order.
type ledger struct {
	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func newLedger() *ledger { return &ledger{more: make(chan struct{}, 1000)} }

func (l *ledger) add(format string, args ...any) {
	l.mu.Lock()
	l.all = append(l.all, fmt.Sprintf(format, args...))
	l.mu.Unlock()
	l.more <- struct{}{}
}

func (l *ledger) Found(proc int, by job.Evidence, left bool, _ int64) {
	l.add("found %d by %s, left %v", proc, by, left)
}
func (l *ledger) Reaped(proc int, status job.Status)        { l.add("reaped %d: %s", proc, status) }
func (l *ledger) Heard(proc int)                            { l.add("heard %d", proc) }
func (l *ledger) NoLife(proc int, _ int64)                  { l.add("no life %d", proc) }
func (l *ledger) Said(proc int, _ rankproto.Received) error { l.add("said %d", proc); return nil }
func (l *ledger) Note(event, format string, args ...any) {
	l.add(event+": "+format, args...)
}

// reports returns those that begin with one of the words.
func (l *ledger) reports(words ...string) (some []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, said := range l.all {
		for _, w := range words {
			if strings.HasPrefix(said, w) {
				some = append(some, said)
			}
		}
	}
	return some
}

// soon is the limit of each wait; a bug exceeds the limit.
const soon = 20 * time.Second

// await waits for a report that contains a text.
func (l *ledger) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(soon)
	for {
		l.mu.Lock()
		found := strings.Contains(strings.Join(l.all, "\n"), text)
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-l.more:
		case <-limit:
			require.Fail(t, "never reported", "%s, but %q", text, l.all)
		}
	}
}

// awaitShut waits for the end of something.
func awaitShut[T any](t *testing.T, c <-chan T, text string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(soon):
		require.Fail(t, text)
	}
}

// A page takes one stream of a process.
type page struct {
	mu     sync.Mutex
	text   string
	closed bool
}

func (p *page) Write(piece []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text += string(piece)
}

func (p *page) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// clientOf starts a client of puppets with a slot on each of so many nodes. The job lasts until
// Unexpect.
func clientOf(t *testing.T, l *ledger, p *puppets, beats daemonproto.Beats) *Client {
	t.Helper()
	cfg := Config{Ranks: len(p.all), Starter: p, Within: time.Minute, Secure: socket.Auth, Iface: "127.0.0.1", Beats: beats}
	for i := range p.all {
		cfg.Names, cfg.Nodes = append(cfg.Names, string(rune('a'+i))), append(cfg.Nodes, i)
	}
	f, err := New(t.Context(), l, cfg)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	require.True(t, f.Expect(1))
	return f
}

// run starts a process in each slot, and returns its standard outputs.
func run(t *testing.T, f *Client) (out []*page) {
	t.Helper()
	require.NoError(t, f.Begin(func() error {
		for slot := range f.procs {
			out = append(out, &page{})
			if err := f.Start(placement(t, slot, out[slot])); err != nil {
				return err
			}
		}
		return nil
	}))
	return out
}

func placement(t *testing.T, number int, out daemon.Sink) daemon.Placement {
	t.Helper()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	return daemon.Placement{Number: number, Path: "/x", Argv: []string{"x"}, Dir: "/", Stdin: null, Out: out, Errs: &page{}}
}

func isA[M daemonproto.Message](m daemonproto.Message) bool { _, is := m.(M); return is }

// TestANodeDies: a process of the node without a reported end is Found, Reaped and Heard once, and
// the reports about another process are completed. A start that waits has failed, the other nodes
// answer a question to all nodes, and the end of the output is there. The deaths are declared
// without exact evidence.
func TestANodeDies(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t), newPuppet(t), newPuppet(t)}}
	l := newLedger()
	f := clientOf(t, l, p, patient)
	out := run(t, f)
	dies := p.all[2]
	dies.mouth.Say(daemonproto.Output{Proc: 2, Data: []byte("half a li")})
	dies.mouth.Say(daemonproto.Found{Proc: 2, By: job.ByTombstone, AtNs: 5})
	l.await(t, "found 2 by tombstone")
	assert.Empty(t, f.Barred())
	dies.silence()
	asked := make(chan []job.Holding)
	go func() { asked <- f.Holdings() }()
	p.all[1].await(isA[daemonproto.Census])
	vacates := make(chan error)
	go func() { vacates <- f.Vacate(0) }()
	p.all[1].await(isA[daemonproto.Vacate])

	dies.die()
	awaitShut(t, asked, "the question waits for the dead")
	awaitShut(t, vacates, "so does the order")
	l.await(t, "heard 2")
	assert.Equal(t, []string{"found 2 by tombstone, left false", "reaped 2: killed (SIGKILL)", "heard 2"}, l.reports("found", "reaped", "heard"))
	l.await(t, "node 2 (c) is lost")
	assert.Equal(t, []int{2}, f.Barred())
	assert.False(t, f.Serves(2))
	assert.ErrorIs(t, f.Start(placement(t, 2, &page{})), ErrNodeLost)
	f.Declare(2, false)
	p.all[0].await(func(m daemonproto.Message) bool { return m == daemonproto.Declare{Proc: 2, Lost: true} })
	require.Eventually(t, func() bool {
		out[2].mu.Lock()
		defer out[2].mu.Unlock()
		return out[2].closed
	}, soon, time.Millisecond)
	assert.Equal(t, "half a li", out[2].text)

	f.Unexpect(1)
	p.all[0].mouth.Say(daemonproto.Reaped{Proc: 0})
	p.all[0].mouth.Say(daemonproto.Reaped{Proc: 0}) // a duplicate
	l.await(t, "reaped 0")
	assert.False(t, f.Over(), "process 1 runs")
	p.all[0].mouth.Say(daemonproto.Reaped{Proc: 1}) // of a node that does not have it
	p.all[0].mouth.Say(daemonproto.Heard{Proc: 0})
	l.await(t, "heard 0")
	assert.False(t, f.Over(), "process 1 runs")
	p.all[1].mouth.Say(daemonproto.Reaped{Proc: 1})
	awaitShut(t, f.Ended(), "the job does not end")
	f.EndLeftovers()
}

// TestANodeIsSilent: nothing of the node reaches the others, and its connection is there. The node
// is declared dead, and ends with its connection when it continues.
func TestANodeIsSilent(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t), newPuppet(t)}}
	l := newLedger()
	f := clientOf(t, l, p, brief)
	run(t, f)
	p.all[1].driver.Hold(true)
	l.await(t, "node 1 (b) is lost: neither the launcher nor its neighbour hears of it")
	l.await(t, "heard 1")
	assert.Equal(t, []string{"found 1 by node, left false", "reaped 1: killed (SIGKILL)", "heard 1"}, l.reports("found", "reaped", "heard"))
	l.await(t, "suspect: node 1 (b)")
	assert.Equal(t, []int{1}, f.Barred())
	p.all[1].driver.Hold(false)
	awaitShut(t, p.all[1].gone, "its daemon does not end")
}

// brief are times by which a silent node is lost soon, and a busy machine loses none.
var brief = daemonproto.Beats{Period: 50 * time.Millisecond, Timeout: 700 * time.Millisecond, Confirm: 200 * time.Millisecond, Link: 5 * time.Minute, Orphan: time.Minute}

// TestWhatAllNodesKnow: a slot is vacant if the process before has departed according to all nodes,
// and is the next one's if all nodes have forgotten that process.
func TestWhatAllNodesKnow(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t), newPuppet(t), newPuppet(t)}}
	f := clientOf(t, newLedger(), p, patient)
	run(t, f)
	p.all[0].reply(nil, job.Holding{Slot: 1, By: []int{0}}, job.Holding{Slot: 2})
	p.all[1].reply(nil, job.Holding{Slot: 2})
	p.all[2].reply(nil, job.Holding{Slot: 1, By: []int{2}}, job.Holding{Slot: 2})
	assert.Equal(t, []job.Holding{{Slot: 2}}, f.Holdings(), "node 1 does not know the death in slot 1")
	p.all[1].reply(nil, job.Holding{Slot: 1}, job.Holding{Slot: 2})
	all := f.Holdings()
	require.Len(t, all, 2)
	assert.Equal(t, []int{2}, job.Vacant(all))
	assert.ElementsMatch(t, []int{0, 2}, all[0].By)

	f.Declare(2, false)
	p.all[1].reply(os.ErrInvalid)
	assert.EqualError(t, f.Vacate(2), "node 1 (b): "+os.ErrInvalid.Error())
	assert.Equal(t, 0, f.used[2])
	assert.Contains(t, f.history.departed, 2)
	p.all[1].reply(nil)
	require.NoError(t, f.Vacate(2))
	assert.Equal(t, 1, f.used[2])
	assert.Empty(t, f.history.departed)
}

// TestANodeIsTakenBack: nothing is started on a node that its engine withdraws.
func TestANodeIsTakenBack(t *testing.T) {
	p := &puppets{all: []*puppet{newPuppet(t), newPuppet(t)}}
	l := newLedger()
	f := clientOf(t, l, p, patient)
	run(t, f)
	p.all[1].mouth.Say(daemonproto.Notice{AfterNs: int64(26 * time.Second)})
	l.await(t, "its ranks end in 26s")
	assert.Equal(t, []int{1}, f.Barred())
	assert.True(t, f.Serves(1), "its ranks run")
}

// TestAnInvitationEnds: the node slot of a node that was invited and does not come is free for the
// next one after Config.Within. A daemon that comes later finds no node slot.
func TestAnInvitationEnds(t *testing.T) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer listener.Close()
	place, err := membershiphost.Open(net.IPv4(127, 0, 0, 1))
	require.NoError(t, err)
	defer place.Close()
	synctest.Test(t, func(t *testing.T) {
		f := &Client{begun: true, of: []int{0}}
		n := newNode(f, 0, "")
		f.nodes = []*node{n}
		f.late.begin(&muster{f: f, cfg: Config{Within: time.Minute}, listener: listener, place: place})
		_, ok := f.Invite("a")
		require.True(t, ok)
		time.Sleep(time.Minute - 1)
		_, ok = f.Invite("b")
		assert.False(t, ok, "the node slot is kept for a")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		_, ok = f.Invite("b")
		assert.True(t, ok)
		assert.Equal(t, "b", n.name)
		assert.True(t, n.become(isInvited, isComing), "b has come")
		time.Sleep(time.Hour)
		_, ok = f.Invite("c")
		assert.False(t, ok, "its node slot is taken for good")
	})
}
