// Package inquiry has the rules for a call that waits for members in Finalize. Such a call would wait
// for ever, and Finalize waits for it. A process that has waited in a call for long therefore asks
// the awaited members whether they are in Finalize. The answer is a data frame: all messages that
// the member has sent come before it. An answer may be lost, because the question is repeated. A
// member that is not in Finalize does not answer.
//
//	waiter                      member
//	waits for First
//	Kind (control)          --> is in Finalize, and nothing waits to be sent
//	ends its receives       <-- a data frame behind all messages
package inquiry

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Kind is the only byte of the control frame with the question.
const Kind = 0x91

// Times between questions.
const (
	First = 256 * mono.Millisecond
	Most  = 4 * mono.Second
)

// An Inquiry is the question of one wait to the members that it waits for. The zero value is that
// of a new wait.
type Inquiry struct {
	next  mono.Time
	after mono.Duration
	ended rankset.Set // processes that have answered
}

// IsDue reports whether it is time to ask. The first call is the beginning of the wait.
func (q *Inquiry) IsDue(now mono.Time) bool {
	if q.next == 0 {
		q.after, q.next = First, now.Add(First)
		return false
	}
	if now < q.next {
		return false
	}
	q.after = min(2*q.after, Most)
	q.next = now.Add(q.after)
	return true
}

// Answered notes the answer of a process, and reports whether all of procs have answered.
func (q *Inquiry) Answered(from int, procs []int) (all bool) {
	q.ended.Add(from)
	return rankset.Of(procs...).SubsetOf(q.ended)
}
