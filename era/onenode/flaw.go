package onenode

import "github.com/goulfm/goulfm/internal/must"

// Flaw is one rule left out on purpose, so that tests and the simulator can show that
// it is needed and that they would notice. Production uses NoFlaw, and is built
// without the tag "sabotage": then a Flaw does nothing.
type Flaw uint8

// The flaws.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawSkip: a member that is dead here is skipped without a look at its line after
	// the death was learnt (I1). Splits.
	FlawSkip
	// FlawNoSwap: in case (b) each member decides its own value (I3). Splits.
	FlawNoSwap
	// FlawSlots: there are W+1 slots. Lines are overwritten while a member still needs
	// them: splits and stalls.
	FlawSlots
	// FlawOwnView: in case (a) a member adds the deaths that it knows (I2). Splits.
	FlawOwnView

	flawCount
)

// String returns "none", "skip", "no-swap", "slots", "own-view".
func (f Flaw) String() string {
	if f < flawCount {
		return [...]string{"none", "skip", "no-swap", "slots", "own-view"}[f]
	}
	return "unknown"
}

// is says whether this rule is left out: never in production.
func (f Flaw) is(which Flaw) bool { return must.Sabotage && f == which }
