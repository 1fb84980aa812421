package match

import (
	"strings"
	"testing"
)

// TestRules has one row per claim of the MPI standard or of a rule. Every call but the last sets
// the scene; want is the effect of the last one.
func TestRules(t *testing.T) {
	for _, c := range []struct{ rule, calls, want string }{
		{"MPI 3.5: two messages of one source match in the order sent, here by a wildcard tag",
			"open members=2; arrive m src=1 tag=5; arrive n src=1 tag=4; post r src=1 tag=any", "gets message m"},
		{"MPI 3.5: an announced message does not fall behind a pushed one sent later",
			"open members=2; arrive m src=1 tag=5 size=9 announced; arrive n src=1 tag=5; post r src=1 tag=5", "gets message m"},
		{"MPI 3.5: nor does a pushed one behind an announced one",
			"open members=2; arrive m src=1 tag=5; arrive n src=1 tag=5 announced; post r src=any tag=5", "gets message m"},
		{"MPI 3.2.4: tags select: a message of another tag is overtaken",
			"open members=2; arrive m src=1 tag=5; arrive n src=1 tag=4; post r src=1 tag=4", "gets message n"},
		{"MPI 3.2.4: sources select",
			"open members=2; arrive m src=1 tag=5; post r src=0 tag=5", "queued"},
		{"MPI 3.2.4: contexts select",
			"open members=2; open ctx=1 members=2; arrive m src=1 tag=5; post r ctx=1 src=any tag=any", "queued"},
		{"MPI 3.2.4: a wildcard receive takes the earliest arrival of all sources",
			"open members=3; arrive m src=2 tag=5; arrive n src=0 tag=5; post r src=any tag=5", "gets message m"},
		{"MPI 3.5: receives match in post order",
			"open members=2; post r src=1 tag=5; post q src=1 tag=5; arrive m src=1 tag=5", "goes to receive r"},
		{"MPI 3.5: a wildcard source posted first wins over a name",
			"open members=2; post r src=any tag=5; post q src=1 tag=5; arrive m src=1 tag=5", "goes to receive r"},
		{"MPI 3.5: a name posted first wins over a wildcard source",
			"open members=2; post r src=1 tag=5; post q src=any tag=5; arrive m src=1 tag=5", "goes to receive r"},
		{"MPI 3.5: a wildcard tag posted first wins over a tag",
			"open members=2; post r src=1 tag=any; post q src=1 tag=5; arrive m src=1 tag=5", "goes to receive r"},
		{"MPI 3.5: an earlier receive of another tag does not block",
			"open members=2; post r src=1 tag=4; post q src=any tag=5; arrive m src=1 tag=5", "goes to receive q"},
		{"MPI 3.5: after the wildcard has matched it is the name's turn",
			"open members=2; post r src=any tag=5; post q src=1 tag=5; arrive m src=1 tag=5; arrive n src=1 tag=5", "goes to receive q"},
		{"MPI 3.8.1: probe finds what a receive would get, and leaves it",
			"open members=2; arrive m src=1 tag=5; arrive n src=1 tag=5; probe src=any tag=any; post r src=1 tag=5", "gets message m"},
		{"MPI 3.8.2: what mprobe found no receive gets",
			"open members=2; arrive m src=1 tag=5; arrive n src=1 tag=5; mprobe src=1 tag=5; post r src=any tag=any", "gets message n"},
		{"MPI 3.8.4: a withdrawn receive gets nothing",
			"open members=2; post r src=1 tag=5; withdraw r; arrive m src=1 tag=5", "kept"},
		{"MPI 3.8.4: a matched receive cannot be withdrawn",
			"open members=2; post r src=1 tag=5; arrive m src=1 tag=5; withdraw r", "too late"},
		{"MPI 3.8.4: a sender takes back what nobody matched",
			"open members=2; arrive m src=1 tag=5 announced; arrive n src=1 tag=5 announced; recall n src=1; recall m src=1", "found m"},
		{"MPI 3.8.4: also while the communicator is under construction",
			"reserve; arrive m src=1 tag=5 announced; recall m src=1; open members=2; post r src=any tag=any", "queued"},
		{"MPI 3.8.4: but not what a receive has matched",
			"open members=2; post r src=1 tag=5; arrive m src=1 tag=5 announced; recall m src=1", "nothing"},
		{"a sender cannot take back another's message, or a pushed one",
			"open members=2; arrive m src=1 tag=5 announced; arrive n src=1 tag=5; recall m src=0; recall n src=1", "nothing"},
		{"R8: a complete message of the dead is received",
			"open members=2; arrive m src=1 tag=5 size=8; fail src=1; post r src=1 tag=5", "gets message m"},
		{"R46: an announced one keeps its place, though its payload died with the sender",
			"open members=2; arrive m src=1 tag=5 size=8 announced; arrive n src=1 tag=5; fail src=1; post r src=1 tag=5", "gets message m"},
		{"R54: in a collective context it goes",
			"open members=2 all; arrive m src=1 tag=5 size=8 announced; fail src=1", "dropped m"},
		{"R8, R50: what had matched before is not touched",
			"open members=2; post r src=any tag=5; arrive m src=0 tag=5; fail src=1", ""},
		{"R2: receives that name others are not touched",
			"open members=3; post r src=0 tag=5; post q src=2 tag=5; fail src=1", ""},
		{"R3: a context of which the dead is no member is not touched",
			"open members=2; open ctx=1 members=2; post r ctx=1 src=1 tag=5; fail ctx=0 src=1; arrive m ctx=1 src=1 tag=5", "goes to receive r"},
		{"R46: receives that name the dead end, in post order",
			"open members=2; post r src=1 tag=5; post q src=1 tag=any; post p src=0 tag=5; fail src=1", "ended r, ended q"},
		{"R48: a blocking wildcard receive keeps no request",
			"open members=2; post r src=any tag=5; fail src=1 blocking; arrive m src=0 tag=5", "kept"},
		{"R49: a wildcard receive is reported pending",
			"open members=2; post r src=any tag=5; fail src=1", "pending r"},
		{"R49: and stays active: it can match a live sender later",
			"open members=2; post r src=any tag=5; fail src=1; arrive m src=0 tag=5", "goes to receive r"},
		{"R49: be cancelled",
			"open members=2; post r src=any tag=5; fail src=1; withdraw r", "withdrawn"},
		{"R49: or be reported again for a new failure",
			"open members=3; post r src=any tag=5; fail src=1; fail src=2", "pending r"},
		{"R49: it keeps its place in the post order",
			"open members=3; post r src=any tag=5; fail src=1; post q src=0 tag=5; arrive m src=0 tag=5", "goes to receive r"},
		{"R54: in a collective every receive needs every member",
			"open members=3 all; post r src=any tag=5; post q src=2 tag=1; post p src=0 tag=1; fail src=1", "ended p, ended q, ended r"},
		{"R54, R8: and what had arrived there may still be received",
			"open members=3 all; arrive m src=1 tag=5; fail src=1; post r src=1 tag=5", "gets message m"},
		{"R13: a revocation ends every receive, also from Any",
			"open members=2; post r src=any tag=5; post q src=1 tag=1; revoke", "ended q, ended r"},
		{"R11: and drops what was not received",
			"open members=2; arrive m src=1 tag=5; arrive n src=0 tag=5 announced; revoke", "dropped m, dropped n"},
		{"R12: once", "open members=2; post r src=any tag=5; revoke; revoke", ""},
		{"R12: for good", "open members=2; revoke; open members=2; arrive m src=1 tag=5", "refused"},
		{"R13: nothing arrives any more", "open members=2; revoke; arrive m src=1 tag=5", "refused"},
		{"R16: other contexts are not revoked",
			"open members=2; open ctx=1 members=2; post r ctx=1 src=1 tag=5; revoke; arrive m ctx=1 src=1 tag=5", "goes to receive r"},
		{"R10: a revocation that overtakes the creation holds",
			"reserve; arrive m src=1 tag=5; revoke; open members=2; arrive n src=1 tag=5", "refused"},
		{"a message that overtakes the creation is held",
			"reserve; arrive m src=1 tag=5; open members=2; post r src=1 tag=5", "gets message m"},
		{"MPI 3.5: held messages keep their order",
			"reserve; arrive m src=1 tag=5; arrive n src=0 tag=5; arrive o src=1 tag=5; open members=2; mprobe src=any tag=any; mprobe src=1 tag=5; mprobe src=any tag=5", "found n"},
		{"R46: nor does a death take what is held",
			"reserve; arrive n src=1 tag=5 announced; arrive m src=1 tag=5; fail src=1; open members=2; post r src=1 tag=5", "gets message n"},
		{"a held message of a rank that the communicator does not have reaches nobody",
			"reserve; arrive m src=7 tag=5; open members=2; post r src=any tag=any", "queued"},
		{"a message of a rank that the communicator does not have reaches nobody",
			"open members=2; post r src=any tag=any; arrive m src=2 tag=5", "refused"},
		{"nothing arrives for an index never given out", "arrive m src=0 tag=0", "refused"},
		{"R58: a free ends and drops all", "open members=2; arrive m src=1 tag=5; post r src=0 tag=any; free", "ended r, dropped m"},
		{"R58: also on a failed context", "open members=2; post r src=any tag=5; fail src=1; free", "ended r"},
		{"R58: also on a revoked one", "open members=2; post r src=any tag=5; revoke; free", ""},
		{"a freed index is not used again", "open members=2; free; arrive m src=0 tag=0", "refused"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newScript()
			var last []string
			for call := range strings.SplitSeq(c.calls, ";") {
				var err error
				if last, err = s.run(strings.TrimSpace(call)); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(last, ", "); got != c.want {
				t.Errorf("%s\ncauses %q, want %q", c.calls, got, c.want)
			}
		})
	}
}

// TestMisuse shows that the Matcher refuses what its owner must never do.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(m *Matcher)
	}{
		{"post on an absent context", func(m *Matcher) { m.Post(&Recv{Ctx: 9}) }},
		{"post on a pending context", func(m *Matcher) { m.Reserve(1); m.Post(&Recv{Ctx: 1}) }},
		{"post on a revoked context", func(m *Matcher) { m.Revoke(0, nil, nil); m.Post(&Recv{}) }},
		{"probe on a freed context", func(m *Matcher) { m.Free(0, nil, nil); m.Probe(0, 0, 0) }},
		{"post from a rank beyond the members", func(m *Matcher) { m.Post(&Recv{Src: 2}) }},
		{"post from a rank below Any", func(m *Matcher) { m.Post(&Recv{Src: -2}) }},
		{"post twice", func(m *Matcher) { r := &Recv{}; m.Post(r); m.Post(r) }},
		{"reserve twice", func(m *Matcher) { m.Reserve(1); m.Reserve(1) }},
		{"reserve a freed context", func(m *Matcher) { m.Free(0, nil, nil); m.Reserve(0) }},
		{"open twice", func(m *Matcher) { m.Open(0, 2, false) }},
		{"open without members", func(m *Matcher) { m.Open(1, 0, false) }},
		{"open a freed context", func(m *Matcher) { m.Free(0, nil, nil); m.Open(0, 2, false) }},
		{"death of a rank beyond the members", func(m *Matcher) { m.Fail(0, 2, nil, nil, nil) }},
		{"keep twice", func(m *Matcher) { msg := m.Message(); m.Keep(msg); m.Keep(msg) }},
		{"take twice", func(m *Matcher) { msg := m.Message(); m.Keep(msg); m.Take(msg); m.Take(msg) }},
		{"recycle a kept message", func(m *Matcher) { msg := m.Message(); m.Keep(msg); m.Recycle(msg) }},
		{"recycle twice", func(m *Matcher) { msg := m.Message(); m.Recycle(msg); m.Recycle(msg) }},
		{"negative payload", func(*Matcher) { c := NewCredit(8); c.Take(-1) }},
	} {
		m := New()
		m.Open(0, 2, false)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", c.name)
				}
			}()
			c.do(m)
		}()
		if err := m.check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNoCallbacks shows that every callback may be nil.
func TestNoCallbacks(t *testing.T) {
	m := New()
	for ctx := range uint32(3) {
		m.Open(ctx, 2, false)
		for _, src := range []int{1, Any} {
			m.Post(&Recv{Ctx: ctx, Src: src, Tag: 7})
		}
		msg := m.Message()
		msg.Ctx, msg.Src, msg.Announced = ctx, 1, true
		m.Keep(msg)
	}
	m.Fail(0, 1, nil, nil, nil)
	m.Revoke(1, nil, nil)
	m.Free(2, nil, nil)
	n, _ := m.Buffered()
	if n != 1 || m.Posted(0) != 1 || m.Posted(1) != 0 || m.Posted(2) != 0 {
		t.Errorf("%d messages and %d, %d, %d receives left", n, m.Posted(0), m.Posted(1), m.Posted(2))
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}
