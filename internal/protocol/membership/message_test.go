package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

func someMessages() []message {
	record := Record{Epoch: 3, Dead: rankset.Of(1, 4), Last: rankset.Of(4)}
	return []message{
		ringMessage{digest: 1 << 60, inner: []byte{1, 2, 3}},
		beat{epoch: 1, promised: 6, seq: 2, named: 3, wroteEpoch: 4, wroteVersion: 5},
		grant{epoch: 1, seq: 1 << 40, number: 9, lease: true},
		report{epoch: 7, silent: rankset.Of(1), ended: rankset.Of(2, 5), unreachable: rankset.Of(3)},
		propose{record: record},
		written{epoch: 3, version: 2},
		canvass{epoch: 1<<31 - 1},
		canvassed{epoch: 5, yes: true, promised: 4},
		support{epoch: 6, record: record},
		newsMessage{runs: []run{{origin: 2, first: 7, entries: []Entry{Process(Died, 1), {Kind: Revoked, Name: [16]byte{15: 1}}}}, {origin: 5}}},
		have{lengths: []int{0, 1, 2, 300, 4, 5}},
		dead{},
	}
}

func TestMessagesComeBack(t *testing.T) {
	for _, m := range someMessages() {
		got, err := parseMessage(m.append(nil), 6)
		require.NoError(t, err, "%T", m)
		if want, ok := m.(report); ok {
			assert.True(t, want.equal(got.(report)))
			continue
		}
		assert.Equal(t, m.append(nil), got.append(nil), "%T", m)
		assert.IsType(t, m, got)
	}
}

// TestDatagramsAreShort: with 16 bytes that prove their origin they have to fit into 64.
func TestDatagramsAreShort(t *testing.T) {
	const most = ^uint64(0)
	long := []message{
		beat{epoch: 1<<31 - 1, promised: 1<<31 - 1, seq: most, named: most, wroteEpoch: 1<<31 - 1, wroteVersion: MembersMax},
		grant{epoch: 1<<31 - 1, seq: most, number: most, lease: true},
		ringMessage{inner: make([]byte, 9)},
	}
	for _, m := range long {
		assert.LessOrEqual(t, len(m.append(nil)), 48, "%T", m)
	}
}

func TestMalformedMessages(t *testing.T) {
	bad := map[string][]byte{
		"nothing":             {},
		"unknown kind":        {99},
		"more than a message": append(dead{}.append(nil), 0),
		"member too large":    report{silent: rankset.Of(6)}.append(nil),
		"last is not dead":    propose{record: Record{Dead: rankset.Of(1), Last: rankset.Of(2)}}.append(nil),
		"epoch too large":     {kindCanvass, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"lengths missing":     have{lengths: []int{1, 2}}.append(nil),
		"kind of entry":       newsMessage{runs: []run{{entries: []Entry{{Kind: kindsEnd}}}}}.append(nil),
		"too many entries":    {kindNews, 1, 0, 0, 200, 1},
		"too many runs":       {kindNews, 200, 1},
	}
	for name, b := range bad {
		_, err := parseMessage(b, 6)
		assert.Error(t, err, name)
	}
}

// FuzzMessage: a message that can be read is written as it was understood, and takes no more memory
// than its length allows.
func FuzzMessage(f *testing.F) {
	for _, m := range someMessages() {
		f.Add(m.append(nil))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := parseMessage(in, 6)
		if err != nil {
			return
		}
		again, err := parseMessage(m.append(nil), 6)
		require.NoError(t, err)
		require.Equal(t, m.append(nil), again.append(nil))
		if news, ok := m.(newsMessage); ok {
			entries := 0
			for _, run := range news.runs {
				entries += len(run.entries)
			}
			require.LessOrEqual(t, len(news.runs)+entries, len(in))
		}
	})
}

// FuzzReceive gives a member messages that a mad member may write: it does not panic, and its own
// messages can be read.
func FuzzReceive(f *testing.F) {
	for i, m := range someMessages() {
		f.Add(byte(i), m.append(nil), m.append(nil))
	}
	f.Fuzz(func(t *testing.T, from byte, first, second []byte) {
		for _, survive := range []bool{false, true} {
			for _, me := range []int{0, 2} {
				r := New(Config{Members: 6, Me: me, Survive: survive})
				for i, msg := range [][]byte{first, second, first} {
					sender := (int(from) + i) % 6
					if sender == me {
						continue
					}
					at, ok := r.Deadline()
					if !ok {
						return
					}
					actions := append(r.Step(Receive{From: sender, Msg: msg}), r.Step(Tick{Now: at})...)
					for _, a := range actions {
						if s, ok := a.(Send); ok {
							_, err := parseMessage(s.Msg, 6)
							require.NoError(t, err)
						}
					}
				}
			}
		}
	})
}
