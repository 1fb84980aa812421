package match

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCredit(t *testing.T) {
	c := NewCredit(100)
	take := func(n int, ok bool, left uint64) {
		t.Helper()
		if got := c.Take(n); got != ok || c.Left() != left {
			t.Errorf("Take(%d) = %v, %d left; want %v, %d", n, got, c.Left(), ok, left)
		}
	}
	returned := func(total, left uint64) {
		t.Helper()
		if c.Returned(total); c.Left() != left {
			t.Errorf("Returned(%d) leaves %d, want %d", total, c.Left(), left)
		}
	}
	take(101, false, 100) // larger than the limit: never pushed
	take(60, true, 40)
	take(41, false, 40) // nothing taken by a refusal
	take(40, true, 0)
	take(1, false, 0)
	take(0, true, 0)
	returned(60, 60)
	returned(60, 60)             // the same word read again counts once
	returned(10, 60)             // an older one not at all
	returned(101, 60)            // more than was ever sent: a broken receiver
	returned(math.MaxUint64, 60) // likewise
	returned(100, 100)
	take(100, true, 0)
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		total uint64
		peers int
		want  uint64
	}{
		{DefaultLimitBytes, 0, 64 << 20}, {DefaultLimitBytes, 1, 64 << 20}, {DefaultLimitBytes, 2, 32 << 20},
		{DefaultLimitBytes, 63, 64 << 20 / 63}, {DefaultLimitBytes, 1024, 64 << 10}, {DefaultLimitBytes, 100_000, 64 << 10},
		{0, 4, 64 << 10}, {DefaultLimitBytes, -1, 64 << 20},
	} {
		if got := Limit(c.total, c.peers); got != c.want {
			t.Errorf("Limit(%d, %d) = %d, want %d", c.total, c.peers, got, c.want)
		}
	}
}

// TestCreditBoundsQueue runs a pair: the sender pushes while it has credit and announces otherwise,
// the receiver receives at random times, and the word is read late. The pushed and unreceived bytes
// never exceed the limit, and all credit is back when all is received.
func TestCreditBoundsQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(46, 50))
	const limit = 64 << 10
	c := NewCredit(limit)
	m := New()
	m.Open(0, 1, false)
	var word uint64 // the receiver's running total
	pushed, announced, most := 0, 0, 0
	receive := func() bool {
		msg := m.Post(&Recv{Src: Any, Tag: Any})
		if msg == nil {
			m.Free(0, nil, nil)
			return false
		}
		if !msg.Announced {
			word += uint64(Charge(len(msg.Data)))
		}
		m.Recycle(msg)
		return true
	}
	for range 20_000 {
		switch rng.IntN(8) {
		case 0:
			c.Returned(word)
		case 1, 2, 3:
			if m.Unexpected(0) > 0 {
				receive()
			}
		default:
			msg := m.Message()
			msg.Size = rng.IntN(4096) * rng.IntN(2)
			if msg.Announced = !c.Take(Charge(msg.Size)); msg.Announced {
				announced++
			} else {
				pushed++
				msg.Data = m.Buffer(msg.Size)
			}
			m.Keep(msg)
		}
		_, held := m.Buffered()
		if most = max(most, held); held > limit {
			t.Fatalf("%d bytes held, limit %d", held, limit)
		}
	}
	for receive() {
	}
	if c.Returned(word); c.Left() != limit {
		t.Errorf("%d of %d bytes of credit came back", c.Left(), limit)
	}
	if pushed < 1000 || announced < 1000 || most < limit/2 {
		t.Errorf("lopsided: %d pushed, %d announced, at most %d bytes held", pushed, announced, most)
	}
}

// FuzzCredit lets a receiver write anything into its word: the sender never has
// more outstanding than the limit against the largest true total.
func FuzzCredit(f *testing.F) {
	f.Add(uint64(100), []byte{10, 0, 3, 1, 200, 0, 255, 1})
	f.Add(uint64(0), []byte{0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, limit uint64, in []byte) {
		c := NewCredit(limit)
		var sent, believed uint64
		for ; len(in) >= 2; in = in[2:] {
			n := uint64(in[0]) << (in[1] >> 3)
			if in[1]&1 == 0 {
				n = n & math.MaxInt64
				if ok := c.Take(int(n)); ok != (n <= limit-(sent-believed)) {
					t.Fatalf("Take(%d) = %v with %d of %d out", n, ok, sent-believed, limit)
				} else if ok {
					sent += n
				}
			} else if c.Returned(n); n <= sent && n > believed {
				believed = n
			}
			if c.sent != sent || c.returned != believed || c.sent-c.returned > limit {
				t.Fatalf("%+v, want %d sent, %d returned", c, sent, believed)
			}
		}
	})
}

// TestCreditIsTakenBack: untaken credit can be taken again, and a total of the receiver that counts
// the untaken bytes is ignored.
func TestCreditIsTakenBack(t *testing.T) {
	c := NewCredit(100)
	for range 10 {
		if !c.Take(60) || !c.Take(40) || c.Take(1) {
			t.Fatalf("%d left", c.Left())
		}
		c.Untake(60)
		c.Untake(40)
	}
	c.Take(70)
	c.Untake(20)
	if c.Returned(51); c.Left() != 50 {
		t.Errorf("%d left: more was returned than is taken", c.Left())
	}
	if c.Returned(50); c.Left() != 100 {
		t.Errorf("%d left, all was returned", c.Left())
	}
}
