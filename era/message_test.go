package era

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

func TestMessageRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		w := world(rng, 2+rng.IntN(70))
		v := randomMerge(rng, w)
		v.Merge(w[0])
		for _, m := range []Message{Up{v}, Down{v}, ResultRequest{}} {
			b := AppendMessage([]byte{99}, m)[1:]
			got, err := DecodeMessage(b, len(w))
			if err != nil || reflect.TypeOf(got) != reflect.TypeOf(m) {
				t.Fatalf("%v came back as %v, %v", m, got, err)
			}
			clear(b) // the message must not live in b
			if !valueOf(got).Equal(valueOf(m)) {
				t.Fatalf("%v came back as %v", m, got)
			}
		}
	}
}

func valueOf(m Message) Value {
	switch m := m.(type) {
	case Up:
		return m.Value
	case Down:
		return m.Value
	}
	return Value{}
}

func TestDecodeRefuses(t *testing.T) {
	good := Value{From: rankset.Of(0, 2), Lo: Claim{1, 0}, Hi: Claim{2, 2}, Returned: 1}
	with := func(change func(v *Value)) []byte {
		v := good.Clone()
		change(&v)
		return AppendMessage(nil, Up{v})
	}
	if _, err := DecodeMessage(with(func(*Value) {}), 3); err != nil {
		t.Fatalf("the value that the cases start from: %v", err)
	}
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"nothing", nil},
		{"unknown kind", []byte{9}},
		{"request with more", []byte{tagResultRequest, 0}},
		{"half an UP", with(func(*Value) {})[:8]},
		{"UP with more", append(with(func(*Value) {}), 0)},
		{"from nobody", with(func(v *Value) { v.From = rankset.Set{} })},
		{"rank too large", with(func(v *Value) { v.Dead.Add(3) })},
		{"claim of a stranger", with(func(v *Value) { v.Lo.Rank = 1 })},
		{"claims in wrong order", with(func(v *Value) { v.Lo, v.Hi = v.Hi, v.Lo })},
		{"veto of a stranger", with(func(v *Value) { v.Vetoes.Add(1) })},
		{"entry of a stranger", with(func(v *Value) { v.Entries = []Entry{{1, nil}} })},
		{"entries in wrong order", with(func(v *Value) { v.Entries = []Entry{{2, nil}, {0, nil}} })},
		{"two entries of one rank", with(func(v *Value) { v.Entries = []Entry{{0, nil}, {0, nil}} })},
		{"entries that are not there", append(with(func(*Value) {})[:len(with(func(*Value) {}))-1], 0xff, 0xff, 0xff, 0xff, 0x0f)},
	} {
		if m, err := DecodeMessage(c.in, 3); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v, %v", c.name, m, err)
		}
	}
}

// FuzzDecodeMessage: no input panics, and accepted input equals the output of AppendMessage.
func FuzzDecodeMessage(f *testing.F) {
	w := world(rand.New(rand.NewPCG(8, 8)), 9)
	v := merged(w[1], w[4])
	f.Add(AppendMessage(nil, Up{v}), 9)
	f.Add(AppendMessage(nil, Down{merged(v, w[8])}), 9)
	f.Add(AppendMessage(nil, ResultRequest{}), 1)
	f.Add([]byte{tagUp, 0xff, 0xff, 0xff, 0xff, 0x0f}, 1<<20)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		n &= 1<<16 - 1
		m, err := DecodeMessage(in, n)
		up, isUp := m.(Up)
		if v, upErr := DecodeUp(in, n); (upErr == nil) != (isUp && err == nil) || upErr == nil && !v.Equal(up.Value) {
			t.Fatalf("%x is %v, %v, and as a contribution %v, %v", in, m, err, v, upErr)
		}
		if err != nil {
			return
		}
		b := AppendMessage(nil, m)
		again, err := DecodeMessage(b, n)
		if err != nil || !bytes.Equal(AppendMessage(nil, again), b) {
			t.Fatalf("%x is %v, written as %x, read as %v, %v", in, m, b, again, err)
		}
	})
}
