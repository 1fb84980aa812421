package tcp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A talk is the traffic of a small job: two ranks send each other numbers on both lanes, each
// number once and in order, and then exchange goodbyes.
type talk struct {
	*roughWorld
	ends    [2]*talker
	numbers [2]uint64 // count of numbers from each rank, by class
	size    int       // of a data frame's payload; 0: no payload, and the handle holds the number
}

// A talker is one rank of a talk.
type talker struct {
	transport.End
	link *Link
	me   int
	sent [2]uint64 // by class
	got  [2]uint64
	half int // sent bytes of the current control frame
	talk *talk
}

func newTalk(t *testing.T, mode socket.Mode, data, control uint64, size int, plan func(target int) faultproxy.Plan) *talk {
	k := &talk{roughWorld: newRoughWorld(t, 2, mode, plan), numbers: [2]uint64{data, control}, size: size}
	for me := range k.ends {
		end := k.world.Port(me)
		k.ends[me] = &talker{End: end, link: end.Link.(*Link), me: me, talk: k}
	}
	return k
}

// start begins the talk, and returns the channel on which each rank reports its result.
func (k *talk) start() chan error {
	ended := make(chan error, 2)
	for _, r := range k.ends {
		go func() { ended <- r.run() }()
	}
	return ended
}

// finish waits for the end of the talk.
func (k *talk) finish(ended chan error) {
	k.t.Helper()
	patience := time.After(60 * time.Second)
	for range k.ends {
		select {
		case err := <-ended:
			require.NoError(k.t, err)
		case <-patience: // the ranks still run, so this output for people is a data race
			k.t.Fatalf("hung: %v %v\n%s\n%s", k.ends[0].got, k.ends[1].got,
				strings.Join(k.ends[0].link.Describe(), "\n"), strings.Join(k.ends[1].link.Describe(), "\n"))
		}
	}
}

// payload returns the payload of a number: the number and bytes derived from it.
func (k *talk) payload(n uint64, c transport.Class) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)
	if c == transport.Control {
		return append(b, bytes.Repeat([]byte{byte(n)}, k.size/7)...)
	}
	return append(b, bytes.Repeat([]byte{byte(n)}, max(k.size-8, 0))...)
}

func (r *talker) run() error {
	peer := 1 - r.me
	over := func() bool { return r.got == r.talk.numbers && r.sent == r.got }
	for !over() {
		if err := r.look(); err != nil {
			return err
		}
		r.link.WantRoom(peer, !r.say())
		r.Node.Sleep(park.Caller, func() bool { return r.link.Pending(-1) || over() }, mono.Duration(-1))
	}
	r.link.Part()
	gone := func(slot int) bool { _, gone := r.Node.HasDeparted(slot); return gone }
	for !r.link.Parted(gone) {
		if err := r.look(); err != nil {
			return err
		}
		r.Node.Sleep(park.Caller, func() bool { return r.link.Pending(-1) || r.link.Parted(gone) }, mono.Duration(-1))
	}
	r.talk.Depart(r.me, false)
	return nil
}

// say sends while there is room, and reports whether everything is sent.
func (r *talker) say() bool {
	peer, d, c := 1-r.me, &r.sent[transport.Data], &r.sent[transport.Control]
	for *d < r.talk.numbers[transport.Data] {
		h, b := transport.Header{Kind: transport.Announce, Handle: *d}, []byte(nil)
		if r.talk.size > 0 {
			b = r.talk.payload(*d, transport.Data)
			h = transport.Header{Kind: transport.Eager, Size: len(b)}
		}
		if !r.link.TrySend(peer, &h, b) {
			break
		}
		*d++
	}
	for *c < r.talk.numbers[transport.Control] {
		b := r.talk.payload(*c, transport.Control)
		if r.half = r.link.TryControl(peer, b, r.half); r.half < len(b) {
			break
		}
		r.half = 0
		*c++
	}
	return r.sent == r.talk.numbers
}

// look takes all frames that have arrived.
func (r *talker) look() error {
	peer := 1 - r.me
	for _, c := range []transport.Class{transport.Control, transport.Data} {
		r.link.Take(c, nil)
	}
	for f, ok := r.link.NextControl(peer); ok; f, ok = r.link.NextControl(peer) {
		if err := r.want(transport.Control, f); err != nil {
			return err
		}
	}
	for f, ok := r.link.Peek(peer); ok; f, ok = r.link.Peek(peer) {
		if f.Kind == transport.Announce {
			f.Payload = r.talk.payload(f.Handle, transport.Data)
		}
		if err := r.want(transport.Data, f.Payload); err != nil {
			return err
		}
		r.link.Advance(peer)
	}
	r.link.Sweep(peer)
	return nil
}

func (r *talker) want(c transport.Class, got []byte) error {
	if want := r.talk.payload(r.got[c], c); !bytes.Equal(want, got) {
		return fmt.Errorf("rank %d, lane %d: frame %x..., want number %d", r.me, c, got[:min(len(got), 16)], r.got[c])
	}
	r.got[c]++
	return nil
}

// seeds returns the number of plans to draw: n, or one in short mode.
func seeds(n int) uint64 {
	if testing.Short() {
		return 1
	}
	return uint64(n)
}

// random returns a plan for each listener, drawn from a seed.
func random(seed uint64, most int64, acts ...faultproxy.Act) func(target int) faultproxy.Plan {
	return func(target int) faultproxy.Plan { return faultproxy.Random(2*seed+uint64(target), 1, most, acts...) }
}

// TestTalkOverCuts: each number arrives once, and both ranks complete the goodbye, while
// connections are cut in the middle of handshakes, hellos, acknowledgements and byes.
func TestTalkOverCuts(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode socket.Mode) {
		for i, c := range []struct {
			size int
			most map[socket.Mode]int64 // a record of TLS, of up to 16 KiB, arrives whole or not at all
		}{
			{8, map[socket.Mode]int64{socket.Auth: 300, socket.TLS: 3000}},
			{8, map[socket.Mode]int64{socket.Auth: 600, socket.TLS: 5000}},
			{100, map[socket.Mode]int64{socket.Auth: 1500, socket.TLS: 12_000}},
			{5000, map[socket.Mode]int64{socket.Auth: 10_000, socket.TLS: 50_000}},
			{60_000, map[socket.Mode]int64{socket.Auth: 100_000, socket.TLS: 100_000}},
		} {
			if !longtest.Row(i, 2) {
				continue
			}
			most := c.most[mode]
			t.Run(fmt.Sprintf("%d bytes, cut below %d", c.size, most), func(t *testing.T) {
				for seed := range seeds(longtest.N(1, 3)) {
					k := newTalk(t, mode, 40, 40, c.size, random(seed, most, faultproxy.Cut, faultproxy.End))
					k.finish(k.start())
					s := k.stats()
					t.Logf("%d connections, %d cut, %d ended", s.Made, s.Done[faultproxy.Cut], s.Done[faultproxy.End])
				}
			})
		}
	})
}

// TestGarbledBytes: a checksum detects a corrupted byte anywhere in handshakes, hellos,
// acknowledgements and frames, and the damaged frame is sent again.
func TestGarbledBytes(t *testing.T) {
	t.Parallel()
	garbled := 0
	for seed := range seeds(longtest.N(1, 3)) {
		k := newTalk(t, socket.Auth, 500, 0, 0, random(seed, 600, faultproxy.Garble))
		k.anomalies = func(string) {}
		k.finish(k.start())
		garbled += k.stats().Done[faultproxy.Garble]
	}
	t.Logf("%d bytes were garbled", garbled)
	require.Greater(t, garbled, 20)
}

// TestGarbledBytesOverTLS: TLS protects every byte, including the payload of messages.
func TestGarbledBytesOverTLS(t *testing.T) {
	t.Parallel()
	garbled := 0
	for seed := range seeds(longtest.N(1, 3)) {
		k := newTalk(t, socket.TLS, 1000, 50, 1000, random(seed, 60_000, faultproxy.Garble))
		k.finish(k.start())
		garbled += k.stats().Done[faultproxy.Garble]
	}
	t.Logf("%d bytes were garbled", garbled)
	require.Greater(t, garbled, 20)
}

// stall stops the traffic from one rank to the other, on connections of either direction of
// dialing.
func (k *talk) stall(from int) {
	k.relays[1-from].Stall(faultproxy.ToTarget)
	k.relays[from].Stall(faultproxy.ToDialer)
}

// awaitWaiting waits until bytes from a rank are stalled.
func (k *talk) awaitWaiting(from int) {
	waits := make(chan bool, 2)
	go func() {
		waits <- k.relays[1-from].Await(func(s faultproxy.Stats) bool { return s.Waiting[faultproxy.ToTarget] > 0 })
	}()
	go func() {
		waits <- k.relays[from].Await(func(s faultproxy.Stats) bool { return s.Waiting[faultproxy.ToDialer] > 0 })
	}()
	require.True(k.t, <-waits)
}

func (k *talk) heal() {
	for _, r := range k.relays {
		r.Heal()
	}
}

// TestAOneWayStallHeals: the talk completes after a stall of either direction from its beginning.
func TestAOneWayStallHeals(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		for from := range 2 {
			k := newTalk(t, mode, 2000, 200, 1000, func(int) faultproxy.Plan { return nil })
			k.stall(from)
			ended := k.start()
			k.awaitWaiting(from)
			k.heal()
			k.finish(ended)
		}
	})
}

// TestCutsDuringAStall: connections break while one direction is stalled, some during a handshake,
// and the pair reconnects once the stall ends.
func TestCutsDuringAStall(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		for from := range 2 {
			k := newTalk(t, mode, 2000, 200, 1000, func(int) faultproxy.Plan { return nil })
			ended := k.start()
			for range 5 {
				k.stall(from)
				k.awaitWaiting(from)
				k.relays[0].Cut()
				k.relays[1].Cut()
				k.awaitWaiting(from) // a handshake or a hello
				k.heal()
			}
			k.finish(ended)
		}
	})
}

// TestHalfOpen: one end of each connection is reset, and the other end is not notified. The reset
// end dials again, and its hello replaces the connection that the other end believes to be open.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode socket.Mode) {
		for seed := range seeds(longtest.N(1, 2)) {
			k := newTalk(t, mode, 500, 300, 1000, random(seed, 40_000, faultproxy.HalfOpen))
			k.finish(k.start())
			require.Greater(t, k.stats().Done[faultproxy.HalfOpen], 5)
		}
	})
}

// TestRefused: listeners that refuse connections for a while are reached later.
func TestRefused(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		k := newTalk(t, mode, 20, 20, 100, func(int) faultproxy.Plan { return nil })
		for _, r := range k.relays {
			r.Refuse(true)
		}
		ended := k.start()
		require.True(t, k.relays[1].Await(func(s faultproxy.Stats) bool { return s.Accepted > 3 }))
		for _, r := range k.relays {
			r.Refuse(false)
		}
		k.finish(ended)
	})
}

// TestDelayed: the talk completes with a delay of 3 ms for every byte, although connections are
// cut.
func TestDelayed(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode socket.Mode) {
		plan := faultproxy.Random(3, 1, 60_000, faultproxy.Cut)
		k := newTalk(t, mode, 100, 100, 1000, func(int) faultproxy.Plan {
			return func(n int) faultproxy.Script { s := plan(n); s.Delay = 3 * time.Millisecond; return s }
		})
		k.finish(k.start())
	})
}

// TestGathering: of the frames sent without a poll in between, the mesh writes the first at once.
// It writes the others together: at the next poll, when gatheredMax bytes wait, or at WriteOut.
func TestGathering(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	link, peer := w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)
	send := func(size int) {
		require.True(t, link.TrySend(1, &transport.Header{Kind: transport.Eager, Size: size}, make([]byte, size)))
	}
	l := link.mesh.lane(transport.Data, 1)
	unwritten := func() int { return int(l.out.queued - l.out.written) }
	send(8)
	for l.out.written == 0 { // until the connection is made
		link.Take(transport.Data, nil)
		peer.Take(transport.Data, nil)
		peer.Peek(0)
	}

	send(8)
	require.Zero(t, unwritten(), "the first after a poll")
	require.False(t, link.mesh.holds.Load())
	send(8)
	send(8)
	require.Equal(t, 2*(headerBytes+8), unwritten())
	require.True(t, link.Pending(-1), "it would sleep on them")
	link.Peek(1)
	require.Zero(t, unwritten(), "looked from where nothing has come")
	require.False(t, link.mesh.holds.Load())

	send(8)
	send(8)
	link.WriteOut(1)
	require.Zero(t, unwritten(), "written out")
	send(8)
	for unwritten() > 0 {
		require.Less(t, unwritten(), gatheredMax)
		send(100)
	}
}

// TestPutBack: NextControl returns a frame that was put back once more, before later frames.
func TestPutBack(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	from, to := w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)
	for _, text := range []string{"first", "second"} {
		require.Equal(t, len(text), from.TryControl(1, []byte(text), 0))
	}
	next := func() string {
		for {
			if frame, ok := to.NextControl(0); ok {
				return string(frame)
			}
			from.Take(transport.Control, nil)
			to.Take(transport.Control, nil)
		}
	}
	require.Equal(t, "first", next())
	to.PutBack(0)
	require.Equal(t, "first", next())
	to.PutBack(0)
	to.PutBack(0)
	require.Equal(t, "first", next())
	require.Equal(t, "second", next())
	_, again := to.NextControl(0)
	require.False(t, again)
}
