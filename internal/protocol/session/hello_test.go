package session

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

func someHello() Hello {
	return Hello{
		Job: 0x0102030405060708, From: Identity{Number: 0x11121314, Birth: 0x2122232425262728},
		To: Identity{Number: 0x31323334, Birth: 0x4142434445464748}, Lane: 0x51, Role: 0x52,
		Attempt: 0x6162, Epoch: 0x71727374, Received: 0x8182838485868788, Status: Busy, GaveUp: 0x9192,
	}
}

// TestHelloLayout compares the bytes with the table at Hello: other versions read them.
func TestHelloLayout(t *testing.T) {
	b := someHello().Append(nil)
	want := []byte{
		8, 7, 6, 5, 4, 3, 2, 1,
		0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
		0x34, 0x33, 0x32, 0x31, 0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
		0x51, 0x52, 0x62, 0x61, 0x74, 0x73, 0x72, 0x71,
		0x88, 0x87, 0x86, 0x85, 0x84, 0x83, 0x82, 0x81, 3, 0, 0x92, 0x91,
	}
	want = append(want, make([]byte, 8)...)
	assert.Equal(t, append(want, 0x65, 0x8C, 0xCD, 0xCE), b)
}

// TestHelloBytesAreChecked requires that a change of any byte, the checksum included, is detected.
func TestHelloBytesAreChecked(t *testing.T) {
	good := someHello().Append(nil)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		_, err := ParseHello(bad)
		assert.ErrorIs(t, err, ErrHello, "byte %d", i)
	}
}

func TestHelloRefusesWhatItIsNot(t *testing.T) {
	good := someHello().Append(nil)
	with := func(at int, value byte) func(b []byte) []byte { // a right checksum does not help
		return func(b []byte) []byte {
			b[at] = value
			return binary.LittleEndian.AppendUint32(b[:helloClear], checksum(b[:helloClear]))
		}
	}
	for name, spoil := range map[string]func(b []byte) []byte{
		"short":          func(b []byte) []byte { return b[:HelloSize-1] },
		"long":           func(b []byte) []byte { return append(b, 0) },
		"unknown status": with(48, byte(statuses)),
		"not zero":       with(59, 1),
	} {
		_, err := ParseHello(spoil(bytes.Clone(good)))
		assert.ErrorIs(t, err, ErrHello, name)
	}
}

func FuzzHello(f *testing.F) {
	f.Add(someHello().Append(nil))
	f.Add(Hello{}.Append(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := ParseHello(in)
		if err != nil {
			return
		}
		require.Equal(t, in, h.Append(nil))
	})
}

// FuzzSession feeds one end with random events, as a faulty peer inside the job could: the session
// must not panic, nor break a promise to its host.
func FuzzSession(f *testing.F) {
	f.Add([]byte{0, 1, 5, 2, 3, 4, 20, 6, 9, 30, 7, 8})
	f.Fuzz(func(t *testing.T, in []byte) {
		s := New(Config{Job: 7, Me: identity(0), Peer: identity(1), Copied: 64})
		var conn, accepted, dialed Conn
		var released uint64
		for len(in) >= 2 {
			what, n := in[0]%13, in[1]
			in = in[2:]
			var ev Event
			switch what {
			case 0:
				ev = Want{}
			case 1:
				copied, referred := s.Room()
				ev = Append{Copied: min(int(n), copied), Referred: min(int(n), referred)}
			case 2:
				ev = Dialed{Conn: dialed}
			case 3:
				ev = Answered{Conn: dialed, Hello: helloOf(n, s.attempt(), Status(n%5))}
			case 4:
				accepted += 2
				ev = Incoming{Conn: accepted, Hello: helloOf(n, uint16(n/4), Asks)}
			case 5:
				ev = Broke{Conn: conn}
			case 6:
				ev = Arrived{Conn: conn, Bytes: int(n)}
			case 7:
				ev = Taken{Bytes: int(min(uint64(n), s.in.received-s.in.taken)), Ask: n%2 == 0}
			case 8:
				ev = Acked{Conn: conn, Taken: uint64(n)}
			case 9:
				ev = Bye{Conn: conn}
			case 10:
				ev = ByeAck{Conn: conn}
			case 11:
				ev = []Event{Close{}, Sweep{}, Gone{}, Gone{Dead: true}}[n%4]
			case 12:
				ev = Tick{Now: s.now.Add(mono.Duration(n) * 7 * ms)}
			}
			for _, a := range s.Step(ev) {
				switch a := a.(type) {
				case Dial:
					dialed = a.Conn
				case Opened:
					conn = a.Conn
					require.GreaterOrEqual(t, a.From, released)
				case Release:
					require.Greater(t, a.To, released)
					require.LessOrEqual(t, a.To, s.out.queued)
					released = a.To
				case WriteAck:
					require.LessOrEqual(t, a.Taken, s.in.received)
				}
			}
			if c := s.Current(); c != 0 {
				conn = c
			}
			copied, referred := s.Room()
			require.GreaterOrEqual(t, copied, 0)
			require.GreaterOrEqual(t, referred, 0)
		}
	})
}

func helloOf(n byte, attempt uint16, status Status) Hello {
	from := identity(1)
	if n%16 == 15 {
		from.Birth++
	}
	return Hello{Job: 7, From: from, To: identity(0), Attempt: attempt, Received: uint64(n / 2), Status: status}
}
