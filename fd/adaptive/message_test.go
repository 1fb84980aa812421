package adaptive

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var examples = []Message{
	Beat{Stream: 0x01020304, Epoch: 0x0506, Seq: 0x0708090a, Nominal: 11 * Time(Microsecond), Period: 12 * Microsecond},
	Beat{Nominal: -5 * Time(Second), Period: 9_716_620 * Microsecond},
	Adjust{Stream: 1, Epoch: 2, Clock: 3 * Time(Second), Period: Second},
	Adjust{Stream: 1, Epoch: 2, Clock: 3 * Time(Second), Period: Second, ByLink: true},
	Adjust{Stream: 1, Epoch: 2, Clock: 3 * Time(Second), Period: Second, Echo: true},
	Probe{Stream: 1<<32 - 1, Clock: Time(Day)},
	Echo{Stream: 5, Clock: Time(Day)},
}

// TestMessages: every written message is read back.
func TestMessages(t *testing.T) {
	for _, m := range examples {
		b := AppendMessage([]byte("x"), m)[1:]
		require.Len(t, b, BodySize)
		got, err := ParseMessage(b)
		require.NoError(t, err)
		assert.Equal(t, m, got)
		beat, isBeat := ParseBeat(b)
		want, ok := m.(Beat)
		assert.Equal(t, ok, isBeat)
		assert.Equal(t, want, beat)
	}
}

// TestLayout: two releases, and two machines, read the same.
func TestLayout(t *testing.T) {
	assert.Equal(t, []byte{1, 0, 6, 5, 4, 3, 2, 1, 10, 9, 8, 7, 11, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0}, AppendMessage(nil, examples[0]))
	assert.Equal(t, []byte{2, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xc6, 0x2d, 0, 0, 0, 0, 0, 0x40, 0x42, 0xf, 0}, AppendMessage(nil, examples[3]))
	assert.Equal(t, 32, SealedSize)
}

// TestMalformed: malformed bytes are refused.
func TestMalformed(t *testing.T) {
	good := AppendMessage(nil, examples[0])
	for name, change := range map[string]func(b []byte) []byte{
		"short":       func(b []byte) []byte { return b[:BodySize-1] },
		"long":        func(b []byte) []byte { return append(b, 0) },
		"kind 0":      func(b []byte) []byte { b[0] = 0; return b },
		"kind 5":      func(b []byte) []byte { b[0] = 5; return b },
		"flag":        func(b []byte) []byte { b[1] = 1; return b },
		"no period":   func(b []byte) []byte { copy(b[20:], make([]byte, 4)); return b },
		"far clock":   func(b []byte) []byte { b[19] = 0x7f; return b },
		"far past":    func(b []byte) []byte { b[19] = 0x80; return b },
		"probe, long": func(b []byte) []byte { b[0] = 3; return b },
	} {
		_, err := ParseMessage(change(bytes.Clone(good)))
		assert.ErrorIs(t, err, ErrMalformed, name)
	}
}

// TestSeal: a message that was changed, or sealed with another key, is not genuine.
func TestSeal(t *testing.T) {
	key := []byte("key of the stream")
	for _, m := range examples {
		sealed := Seal(nil, key, m)
		require.Len(t, sealed, SealedSize)
		body, ok := Unseal(key, sealed)
		require.True(t, ok)
		got, err := ParseMessage(body)
		require.NoError(t, err)
		assert.Equal(t, m, got)
		for i := range sealed {
			sealed[i] ^= 0x10
			_, ok := Unseal(key, sealed)
			assert.False(t, ok, "byte %d", i)
			sealed[i] ^= 0x10
		}
		_, ok = Unseal([]byte("another"), sealed)
		assert.False(t, ok)
		_, ok = Unseal(key, sealed[:SealedSize-1])
		assert.False(t, ok)
	}
	stream, ok := StreamOf(Seal(nil, key, examples[0]))
	assert.True(t, ok)
	assert.Equal(t, uint32(0x01020304), stream)
	_, ok = StreamOf(nil)
	assert.False(t, ok)
}

// FuzzParseMessage: any bytes are refused or are the encoding of the message read from them.
func FuzzParseMessage(f *testing.F) {
	for _, m := range examples {
		f.Add(AppendMessage(nil, m))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMessage(b)
		if err != nil {
			assert.Nil(t, m)
			return
		}
		assert.Equal(t, b, AppendMessage(nil, m))
	})
}

// FuzzHeard: an observer that is given any genuine beats, in any order, keeps its promises
// to itself.
func FuzzHeard(f *testing.F) {
	f.Add(AppendMessage(nil, examples[0]), AppendMessage(nil, examples[1]), int64(5))
	f.Fuzz(func(t *testing.T, a, b []byte, at int64) {
		var o Observer
		o.Step(Observe{Peer: 0})
		now := Time(0)
		for i, raw := range [][]byte{a, b, b, a} {
			beat, ok := ParseBeat(raw)
			if !ok {
				continue
			}
			beat.Stream = o.Stream(0)
			now += Time(uint64(at) % uint64(Day))
			o.Step(Heard{Peer: 0, At: now, Beat: beat})
			o.Step(Tick{Now: now})
			if d, ok := o.Deadline(); ok && d <= now {
				t.Fatalf("beat %d: after a Tick at %v the deadline is %v", i, now, d)
			}
		}
	})
}
