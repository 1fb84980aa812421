package fd

import (
	"slices"

	"github.com/goulfm/goulfm/internal/flood"
	"github.com/goulfm/goulfm/internal/must"
)

// Flaw is one rule left out on purpose, so that the simulator can show that it
// is needed. Production never asks for one, and is built without the tag
// "sabotage": then a Flaw does nothing.
type Flaw uint8

// The flaws. Each constant is named after the rule that it leaves out.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawA2: the dead are heard as if they lived.
	FlawA2
	// FlawB1: any message counts for the emitter's timing.
	FlawB1
	// FlawB2: a NEWOBSERVER is obeyed however stale it is, and nothing but the next
	// one corrects it, as in T4 of the paper.
	FlawB2
	// FlawB3: digests are not compared: what a cut flood lost stays lost.
	FlawB3
	// FlawB5: a death learnt from others does not rewire the ring, as in T5 of the
	// paper.
	FlawB5
	// FlawB10: a suspect is declared without a second check.
	FlawB10
	// FlawB12: who observes this process changes by NEWOBSERVER alone.
	FlawB12
	// FlawB16: who has left is observed on.
	FlawB16
	// FlawB17: time in which this process was late itself counts as silence.
	FlawB17
	// FlawB18: the smaller side of a partition goes on, whatever Config says.
	FlawB18
	// FlawB19: a broken connection is a death.
	FlawB19
	// FlawB20: a process that learns of its own death goes on.
	FlawB20
	// FlawF6: a process that was declared dead and still speaks is not told.
	FlawF6
)

// NewFlawed returns a detector without one of its own rules, and without one of its
// flood's.
func NewFlawed(cfg Config, f Flaw, notices flood.Flaw) *Detector {
	d := New(cfg)
	d.flaw = f
	d.flood.LeaveOut(notices)
	return d
}

// is says whether one of these rules is left out: never in production.
func (f Flaw) is(these ...Flaw) bool { return must.Sabotage && slices.Contains(these, f) }
