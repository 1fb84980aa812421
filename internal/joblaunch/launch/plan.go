package launch

import (
	"fmt"
	"slices"
	"sync"
)

// A plan records which of the planned faults of a life have happened. A run that tests a repair is
// worth nothing if the death never came: at the end the plan names each fault that did not happen.
type plan struct {
	mu     sync.Mutex
	faults []fault
}

// A fault is one of --kill, --stop or --cut.
type fault struct {
	text string // flag and value, as given
	why  string // why the fault has not happened
	done bool
}

// The reasons why a fault does not happen.
const (
	endedFirst = "the job ended first"
	rankGone   = "the rank had ended"
	nodeGone   = "the node was gone"
)

func newPlan(f Faults) *plan {
	p := &plan{}
	for _, k := range f.Kills {
		why := endedFirst
		switch {
		case k.Point != "" && k.Node > 0:
			why = fmt.Sprintf("no rank of node %d called Mark(%q, %d)", k.Node-1, k.Point, k.Value)
		case k.Point != "":
			why = fmt.Sprintf("rank %d did not call Mark(%q, %d)", k.Rank, k.Point, k.Value)
		}
		p.faults = append(p.faults, fault{text: k.flag(), why: why})
	}
	for _, s := range f.Stops {
		p.faults = append(p.faults, fault{text: s.flag(), why: endedFirst})
	}
	for _, c := range f.Cuts {
		p.faults = append(p.faults, fault{text: c.flag(), why: endedFirst})
	}
	return p
}

// happened records that a fault has happened.
func (p *plan) happened(text string) {
	p.each(text, func(f *fault) { f.done = true })
}

// missed records why a fault cannot happen any more.
func (p *plan) missed(text, why string) {
	p.each(text, func(f *fault) { f.why = why })
}

func (p *plan) each(text string, do func(*fault)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.faults {
		if p.faults[i].text == text {
			do(&p.faults[i])
		}
	}
}

// left returns the faults that have not happened.
func (p *plan) left() []fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.faults), func(f fault) bool { return f.done })
}

func (k Kill) flag() string { return "--kill " + k.Text }

func (s Stop) flag() string { return "--stop " + s.Text }

func (c Cut) flag() string { return "--cut " + c.Text }
