package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

func TestRoundTrip(t *testing.T) {
	sets := []rankset.Set{{}, rankset.Of(0), rankset.Of(63, 64), rankset.Of(7, 4000), rankset.Range(0, 130)}
	for _, s := range sets {
		b := AppendUint(nil, 1<<40)
		b = AppendInt(b, -7)
		b = AppendBool(b, true)
		b = AppendBytes(b, []byte("abc"))
		b = AppendSet(b, s)
		r := NewReader(b)
		u, i, f, by, got := r.Uint(), r.Int(), r.Bool(), r.Bytes(), r.Set(5000)
		if err := r.Done(); err != nil || u != 1<<40 || i != -7 || !f || string(by) != "abc" || !got.Equal(s) {
			t.Errorf("%v: %d %d %v %q %v, %v", s, u, i, f, by, got, err)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		read func(r *Reader)
	}{
		{"empty byte", nil, func(r *Reader) { r.Byte() }},
		{"bool 2", []byte{2}, func(r *Reader) { r.Bool() }},
		{"endless varint", bytes.Repeat([]byte{0x80}, 12), func(r *Reader) { r.Uint() }},
		{"length beyond end", []byte{9, 1}, func(r *Reader) { r.Bytes() }},
		{"set longer than message", []byte{200, 1}, func(r *Reader) { r.Set(10) }},
		{"dense member too large", AppendSet(nil, rankset.Of(9)), func(r *Reader) { r.Set(9) }},
		{"sparse member too large", AppendSet(nil, rankset.Of(4000)), func(r *Reader) { r.Set(4000) }},
		{"value too large", []byte{5}, func(r *Reader) { r.Below(5) }},
		{"left over", []byte{1, 2}, func(r *Reader) { r.Byte() }},
	} {
		r := NewReader(c.in)
		c.read(r)
		if err := r.Done(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add(AppendSet(nil, rankset.Of(1, 3, 70)))
	f.Add(AppendSet(nil, rankset.Of(4000)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(in)
		s := r.Set(1 << 16)
		if r.Err() != nil {
			return
		}
		again := NewReader(AppendSet(nil, s)).Set(1 << 16)
		if !again.Equal(s) {
			t.Fatalf("%v came back as %v", s, again)
		}
	})
}
