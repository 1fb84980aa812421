package hold

import "github.com/goulfm/goulfm/internal/must"

// Flaw is one rule left out on purpose, so that the tests can show that it is needed and
// that they would notice. Production uses NoFlaw, and is built without the tag "sabotage":
// then a Flaw does nothing.
type Flaw uint8

// The flaws.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawAccept: who was handed the lock takes it by a plain store. Two holders.
	FlawAccept
	// FlawLook: a reader does not look at W after it has said that it shares. A reader
	// beside a writer.
	FlawLook
	// FlawScan: a writer does not wait for the readers. The same.
	FlawScan
	// FlawDeadReader: a writer waits for a dead reader. For ever.
	FlawDeadReader
	// FlawDeadSuccessor: a lock that was handed to one that died is waited for. For ever.
	FlawDeadSuccessor
	// FlawAbsentSuccessor: a lock that was handed to one that has given up is waited for.
	// For ever.
	FlawAbsentSuccessor
	// FlawBroken: the lock of a dead holder is taken in silence.
	FlawBroken
	// FlawFence: the claim of a reader may be seen after it has looked (SetClaim for
	// SetClaimFenced). A reader beside a writer.
	FlawFence

	flawCount
)

// String returns a short name.
func (f Flaw) String() string {
	if f < flawCount {
		return [...]string{"none", "accept", "look", "scan", "dead-reader", "dead-successor", "absent-successor", "broken", "fence"}[f]
	}
	return "unknown"
}

// is says whether this rule is left out: never in production.
func (f Flaw) is(which Flaw) bool { return must.Sabotage && f == which }
