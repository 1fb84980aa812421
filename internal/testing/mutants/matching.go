package mutants

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
)

// matching is the arena of one process's matching rules: messages of several sources, receives
// with and without wildcards, an opening, a revocation, deaths. The standard is modelled by
// lists of all posted receives and all arrived messages, searched from the front. The actions of
// the Matcher are compared with this model.
//
//	I8  no receive waits for the dead or on a revoked context
//	I10 each message is given to one receive, and to the right one
func matching(seed uint64, _ Hunt) *failure {
	w := &matchWorld{rng: rand.New(rand.NewPCG(seed, 29)), m: match.New()}
	w.m.Reserve(matchContext)
	for range 5 + w.rng.IntN(60) {
		w.happen()
		if w.failure != nil {
			return w.failure
		}
	}
	return nil
}

const (
	matchContext = 3 // any index
	matchMembers = 4
	matchTags    = 3
)

type matchWorld struct {
	rng      *rand.Rand
	m        *match.Matcher
	open     bool
	revoked  bool
	dead     [matchMembers]bool
	posted   []*match.Recv  // waiting, in post order
	messages []matchMessage // waiting, in order of arrival
	count    uint64
	failure  *failure
}

type matchMessage struct {
	id       uint64
	src, tag int
}

func (w *matchWorld) happen() {
	switch k := w.rng.IntN(20); {
	case k < 9:
		w.arrive(w.rng.IntN(matchMembers), w.rng.IntN(matchTags))
	case k < 17:
		w.post()
	case k == 17:
		w.openNow()
	case k == 18:
		w.die(w.rng.IntN(matchMembers))
	case w.rng.IntN(4) == 0:
		w.revoke()
	}
}

func (w *matchWorld) openNow() {
	if !w.open {
		w.open = true
		w.m.Open(matchContext, matchMembers, false)
	}
	if w.revoked == w.m.Accepts(matchContext) {
		w.fail("I8", "a context that was revoked accepts messages")
	}
}

// takes reports whether a receive matches a message.
func takes(r *match.Recv, src, tag int) bool {
	return (r.Src == match.Any || r.Src == src) && (r.Tag == match.Any || r.Tag == tag)
}

func (w *matchWorld) arrive(src, tag int) {
	if w.dead[src] {
		return
	}
	w.count++
	want := slices.IndexFunc(w.posted, func(r *match.Recv) bool { return takes(r, src, tag) })
	got := w.m.Arrive(matchContext, src, tag)
	switch {
	case want < 0 && got != nil, want >= 0 && got != w.posted[want]:
		w.fail("I10", "message %d of %d is given to another receive than the earliest posted", w.count, src)
		return
	case want >= 0:
		w.posted = slices.Delete(w.posted, want, want+1)
		return
	case !w.m.Accepts(matchContext):
		return
	}
	msg := w.m.Message()
	msg.Ctx, msg.Src, msg.Tag, msg.Handle = matchContext, src, tag, w.count
	msg.Announced = w.rng.IntN(3) == 0
	if w.m.Keep(msg) && !w.revoked {
		w.messages = append(w.messages, matchMessage{w.count, src, tag})
	}
}

func (w *matchWorld) post() {
	if !w.open || w.revoked || w.m.State(matchContext) != match.Live {
		return
	}
	src, tag := w.rng.IntN(matchMembers+1)-1, w.rng.IntN(matchTags+1)-1 // -1: Any
	r := &match.Recv{Ctx: matchContext, Src: src, Tag: tag}
	if src >= 0 && w.dead[src] && !slices.ContainsFunc(w.messages, func(m matchMessage) bool { return takes(r, m.src, m.tag) }) {
		return // the rules above do not post it
	}
	want := slices.IndexFunc(w.messages, func(m matchMessage) bool { return takes(r, m.src, m.tag) })
	got := w.m.Post(r)
	switch {
	case want < 0 && got != nil, want >= 0 && (got == nil || got.Handle != w.messages[want].id):
		w.fail("I10", "a receive of %d with tag %d gets another message than the earliest arrived, or none", src, tag)
	case want >= 0:
		w.messages = slices.Delete(w.messages, want, want+1)
		w.m.Recycle(got)
	default:
		w.posted = append(w.posted, r)
	}
}

func (w *matchWorld) die(src int) {
	if w.dead[src] || !w.open || w.revoked {
		return
	}
	w.dead[src] = true
	w.m.Fail(matchContext, src, nil, nil, nil)
	w.posted = slices.DeleteFunc(w.posted, func(r *match.Recv) bool {
		if r.Src == src && r.Queued() {
			w.fail("I8", "a receive waits for %d, which is dead", src)
		}
		return r.Src == src
	})
}

func (w *matchWorld) revoke() {
	if w.revoked {
		return
	}
	w.revoked = true
	w.m.Revoke(matchContext, nil, nil)
	for _, r := range w.posted {
		if r.Queued() {
			w.fail("I8", "a receive waits on a revoked context")
		}
	}
	w.posted, w.messages = nil, nil
}

func (w *matchWorld) fail(invariant, format string, args ...any) {
	if w.failure == nil {
		w.failure = &failure{invariant, fmt.Sprintf(format, args...)}
	}
}
