package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/flood"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Searches returns the searches of worlds of 2 to n processes: agreement, shrink and revocation
// through internal/protocol/control, the flood alone, and the ring detector with time.
func Searches(n int) []Search {
	var all []Search
	for size := 2; size <= n; size++ {
		deaths := min(size-1, 2)
		all = append(all,
			Search{callModel{kind: commstate.KindAgree}, size, deaths},
			Search{callModel{kind: commstate.KindShrink}, size, deaths},
			Search{floodModel{}, size, deaths},
			Search{ringModel{}, size, deaths},
		)
		if size <= 3 {
			all = append(all, Search{callModel{kind: commstate.KindShrink, revoke: true}, size, 1})
		}
	}
	return all
}

// callModel is one call that ends in an agreement, at each process, through the composed control
// rules. With revoke, process 0 revokes the world at some time.
type callModel struct {
	kind   commstate.Kind
	revoke bool
}

func (m callModel) name() string {
	if m.revoke {
		return m.kind.String() + " and revoke"
	}
	return m.kind.String()
}

func (m callModel) timed() bool { return false }

func (m callModel) machine(n, p int) any {
	return control.New(control.Config{N: n, Me: p, Detector: fd.Config{Mode: fd.Exact}})
}

const (
	called  = "called"
	revokes = "revokes"
	revoked = "revoked"
	answer  = "answer "
	failed  = "failed "
)

func (m callModel) calls(w *smallWorld, p int) []choice {
	var out []choice
	if !has(w.oracle[p], called) {
		out = append(out, choice{m.kind.String(), false})
		if known := w.machines[p].(*control.Control).Failed(control.World); known.Len() > 0 {
			out = append(out, choice{m.kind.String() + " acknowledged", true})
		}
	}
	if m.revoke && p == 0 && !has(w.oracle[p], revokes) {
		out = append(out, choice{"revoke", control.Revoke{Comm: control.World}})
	}
	return out
}

func has(told []string, prefix string) bool {
	return slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, prefix) })
}

func (m callModel) take(w *smallWorld, p int, in any) {
	c := w.machines[p].(*control.Control)
	switch in := in.(type) {
	case bool:
		known := c.Failed(control.World)
		if in {
			_, _ = known.Ack(w.n) // never more than the number of members
		}
		w.note(p, called+" %v|%v", known.AckedSet(), known.Set())
		m.act(w, p, c.Step(control.Propose{Comm: control.World, Token: 1, Call: commstate.Call{Kind: m.kind}, Flag: ^(uint64(1) << p)}))
	case control.Revoke:
		w.note(p, revokes)
		m.act(w, p, c.Step(in))
	case frameFrom:
		m.act(w, p, c.Step(control.Receive{From: in.from, Frame: []byte(in.frame)}))
	case deathOf:
		m.act(w, p, c.Step(control.Exited{Proc: in.proc}))
	}
}

func (m callModel) act(w *smallWorld, p int, acts []control.Action) {
	for _, a := range acts {
		switch a := a.(type) {
		case control.Send:
			w.send(p, a.To, a.Frame)
		case control.Decided:
			made := "nothing"
			if g := a.Outcome.New; g != nil {
				made = fmt.Sprintf("%v %v", g.Procs, g.Indices)
			}
			w.note(p, answer+"%x|%v|%s|%v|%s", a.Outcome.Flag, rankset.Of(a.Outcome.Dead...), world.ClassName(a.Outcome.Err), world.RanksOf(a.Outcome.Err), made)
		case control.Revoked:
			w.note(p, revoked)
		case control.Declared:
			if !w.isDead(a.Proc) {
				w.note(p, failed+"I6: declares %d, which lives", a.Proc)
			}
		case control.Fenced:
			w.note(p, failed+"I6: fenced, and lives")
		case control.Anomaly:
			w.note(p, failed+"anomaly about %d: %s", a.From, a.Text)
		}
	}
}

// always checks I1, I3, I4, I6, R36 and R38 among the live processes.
func (m callModel) always(w *smallWorld) error {
	first, by := "", -1
	for p := range w.n {
		if w.isDead(p) {
			continue
		}
		answers := 0
		for _, text := range w.oracle[p] {
			switch {
			case strings.HasPrefix(text, failed):
				return fmt.Errorf("process %d: %s", p, text)
			case !strings.HasPrefix(text, answer):
				continue
			case by >= 0 && text != first:
				return fmt.Errorf("I1: process %d has %s, process %d %s", by, first, p, text)
			}
			first, by = text, p
			answers++
		}
		if answers > 1 {
			return fmt.Errorf("I4: process %d is answered twice", p)
		}
	}
	if by < 0 {
		return nil
	}
	d, err := parseDecision(first)
	if err != nil {
		return err
	}
	if err := d.participation(w); err != nil {
		return err
	}
	return d.entries(w, m.kind)
}

// decision is an answer, as it was noted.
type decision struct {
	text  string
	flag  uint64 // a zero for each contributor
	dead  rankset.Set
	class string // of the error
}

func parseDecision(text string) (d decision, err error) {
	parts := strings.Split(strings.TrimPrefix(text, answer), "|")
	if len(parts) < 3 {
		return d, fmt.Errorf("no answer: %q", text)
	}
	d.text, d.class = text, parts[2]
	if d.flag, err = strconv.ParseUint(parts[0], 16, 64); err != nil {
		return d, err
	}
	d.dead, err = rankset.Parse(parts[1])
	return d, err
}

func (d decision) contributed(p int) bool { return d.flag>>p&1 == 0 }

// participation checks I3 and I6.
func (d decision) participation(w *smallWorld) error {
	for p := range w.n {
		contributed, agreed := d.contributed(p), d.dead.Has(p)
		switch {
		case contributed && !has(w.oracle[p], called):
			return fmt.Errorf("I3: %s has %d, which called nothing", d.text, p)
		case !contributed && !w.isDead(p):
			return fmt.Errorf("I3: %s is without %d, which lives", d.text, p)
		case !contributed && !agreed:
			return fmt.Errorf("I3: %s is without %d, which is not agreed to be dead", d.text, p)
		case agreed && !w.isDead(p):
			return fmt.Errorf("I6: %s names %d, which lives", d.text, p)
		}
	}
	return nil
}

// entries compares a decision with the sets with which its contributors called. R38: a death that a
// contributor knew is agreed. R36: an agree succeeds if and only if each contributor had
// acknowledged the agreed deaths, and no others.
func (d decision) entries(w *smallWorld, kind commstate.Kind) error {
	all := true
	for p := range w.n {
		if !d.contributed(p) {
			continue
		}
		acked, known, err := entrySets(w.oracle[p])
		switch {
		case err != nil:
			return err
		case !known.SubsetOf(d.dead):
			return fmt.Errorf("R38: %s, and %d knew %v", d.text, p, known)
		}
		all = all && acked.Equal(d.dead)
	}
	if succeeds := d.class == world.ClassName(nil); kind == commstate.KindAgree && succeeds != all {
		return fmt.Errorf("R36: %s, and the contributors had acknowledged the agreed dead: %v", d.text, all)
	}
	return nil
}

// entrySets returns the sets with which a process has called: the deaths that it had acknowledged,
// and the deaths that it knew.
func entrySets(told []string) (acked, known rankset.Set, err error) {
	i := slices.IndexFunc(told, func(s string) bool { return strings.HasPrefix(s, called+" ") })
	if i < 0 {
		return acked, known, errors.New("a contributor without a call")
	}
	before, after, _ := strings.Cut(strings.TrimPrefix(told[i], called+" "), "|")
	acked, errAcked := rankset.Parse(before)
	known, errKnown := rankset.Parse(after)
	return acked, known, errors.Join(errAcked, errKnown)
}

// end checks I2 and I8.
func (m callModel) end(w *smallWorld) error {
	some, all := false, true
	for p := range w.n {
		if w.isDead(p) {
			continue
		}
		if !has(w.oracle[p], answer) {
			return fmt.Errorf("I2: process %d waits for ever\n%s", p, w.machines[p].(*control.Control).Describe())
		}
		known := has(w.oracle[p], revoked)
		some, all = some || known, all && known
	}
	if some && !all {
		return errors.New("I8: some are revoked, others not")
	}
	return nil
}

// floodModel is the flood alone: each process publishes its own number.
type floodModel struct{}

func (floodModel) name() string { return "flood" }
func (floodModel) timed() bool  { return false }
func (floodModel) machine(n, p int) any {
	return flood.New(flood.Config{N: n, Me: p, Items: n})
}

// publishers is the number of processes with an item to publish.
const publishers = 2

func (floodModel) calls(w *smallWorld, p int) []choice {
	if p >= publishers || has(w.oracle[p], called) {
		return nil
	}
	return []choice{{"publish", true}}
}

func (m floodModel) take(w *smallWorld, p int, in any) {
	f := w.machines[p].(*flood.Flood)
	switch in := in.(type) {
	case bool:
		w.note(p, called)
		m.act(w, p, f.Step(flood.Publish{Items: rankset.Of(p)}))
	case frameFrom:
		m.act(w, p, f.Step(flood.Receive{From: in.from, Msg: []byte(in.frame)}))
	case deathOf:
		m.act(w, p, f.Step(flood.Failed{Rank: in.proc}))
	}
}

func (floodModel) act(w *smallWorld, p int, acts []flood.Action) {
	for _, a := range acts {
		switch a := a.(type) {
		case flood.Send:
			w.send(p, a.To, a.Msg)
		case flood.Deliver:
			for item := range a.Items.All() {
				text := fmt.Sprintf(answer+"%d", item)
				if has(w.oracle[p], text) {
					w.note(p, failed+"%d delivered twice", item)
				}
				w.note(p, "%s", text)
			}
		case flood.Anomaly:
			w.note(p, failed+"anomaly about %d: %s", a.From, a.Text)
		}
	}
}

// always checks that each delivered item was published, and that none is delivered twice.
func (floodModel) always(w *smallWorld) error {
	for p := range w.n {
		for _, text := range w.oracle[p] {
			var item int
			if strings.HasPrefix(text, failed) {
				return fmt.Errorf("process %d: %s", p, text)
			}
			if _, err := fmt.Sscanf(text, answer+"%d", &item); err == nil && !has(w.oracle[item], called) {
				return fmt.Errorf("process %d has item %d, which was never published", p, item)
			}
		}
	}
	return nil
}

// end checks I8, the promise of package flood once every live process knows every death and every
// message has arrived: all live processes hold the same items. A process that lives holds the item
// that it published, so all live processes hold that item. An item of a publisher that died is held
// by all or by none.
func (floodModel) end(w *smallWorld) error {
	for item := range publishers {
		var have, lack []int
		for p := range w.n {
			switch {
			case w.isDead(p):
			case has(w.oracle[p], fmt.Sprintf(answer+"%d", item)):
				have = append(have, p)
			default:
				lack = append(lack, p)
			}
		}
		switch {
		case len(lack) == 0:
		case !w.isDead(item) && has(w.oracle[item], called):
			return fmt.Errorf("I8: process %d published its item and lives, processes %v do not have the item", item, lack)
		case len(have) > 0:
			return fmt.Errorf("I8: processes %v have item %d, processes %v do not", have, item, lack)
		}
	}
	return nil
}

// ringModel is the ring detector. Frames arrive within half a period, in any order. A death may
// come between any two steps.
type ringModel struct{}

func (ringModel) name() string { return "ring detector" }
func (ringModel) timed() bool  { return true }
func (ringModel) machine(n, p int) any {
	cfg := Ring.config()
	cfg.N, cfg.Me = n, p
	cfg.Timeout, cfg.Confirm = 2*period, period
	return fd.New(cfg)
}

func (ringModel) calls(*smallWorld, int) []choice { return nil }

func (m ringModel) take(w *smallWorld, p int, in any) {
	d := w.machines[p].(*fd.Detector)
	switch in := in.(type) {
	case frameFrom:
		m.act(w, p, d.Step(fd.Receive{From: in.from, Msg: []byte(in.frame)}))
	case timeIs:
		if at, any := d.Deadline(); any && at <= in.now {
			m.act(w, p, d.Step(fd.Tick{Now: in.now}))
		}
	}
}

func (ringModel) act(w *smallWorld, p int, acts []fd.Action) {
	for _, a := range acts {
		switch a := a.(type) {
		case fd.Send:
			w.send(p, a.To, a.Msg)
		case fd.Declare:
			if !w.isDead(a.Rank) {
				w.note(p, failed+"I6: declares %d, which lives", a.Rank)
			}
			w.told[p] |= 1 << a.Rank
		case fd.Fenced:
			w.note(p, failed+"I6: fenced, and lives")
		case fd.Anomaly:
			w.note(p, failed+"anomaly about %d: %s", a.From, a.Text)
		}
	}
}

func (ringModel) always(w *smallWorld) error {
	for p := range w.n {
		if has(w.oracle[p], failed) {
			return fmt.Errorf("process %d: %s", p, w.oracle[p])
		}
	}
	return nil
}

// end checks I5: quietMax slots after the last death each survivor has declared all the dead.
func (ringModel) end(w *smallWorld) error {
	for p := range w.n {
		if !w.isDead(p) && w.told[p] != w.dead {
			return fmt.Errorf("I5: process %d has declared %b, dead are %b: %s", p, w.told[p], w.dead, w.machines[p].(*fd.Detector).Describe())
		}
	}
	return nil
}
