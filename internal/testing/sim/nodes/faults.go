package nodes

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/membership"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// nodeFaultKind is the kind of a fault.
type nodeFaultKind uint8

const (
	rankDies   nodeFaultKind = iota // a rank ends, in its next step
	leaderDies                      // the lowest live rank of a node ends in its next step
	daemonDies                      // a daemon ends, and its ranks with it
	nodeDies                        // a machine is off
	launcherDies
	machinePauses // a machine is paused for a while
	daemonPauses  // the daemon of a machine alone is paused
	wayCut        // for a while nothing arrives from some machines at others
	cablesBreak   // all connections between ranks of two nodes break
	ordersBreak   // the launcher cannot give orders to a daemon any more; the daemon keeps running
)

func (k nodeFaultKind) String() string {
	return [...]string{"rank dies", "leader dies", "daemon dies", "node dies", "launcher dies", "machine pauses", "daemon pauses", "way cut", "connections break", "orders break"}[k]
}

// nodeFault is one planned fault.
type nodeFault struct {
	number   int
	kind     nodeFaultKind
	at       mono.Duration // after the beginning
	machine  int           // as a member of the roster
	rank     int           // of that node
	part     int           // thousandths of a rank's step before its death; of the launcher's: below 500 its machine is off
	length   mono.Duration
	from, to uint64 // members
	both     bool   // the way back is cut, too
	breaks   int    // percent: a connection breaks, in place of waiting for the end of the cut
}

func (f nodeFault) String() string {
	text := fmt.Sprintf("%d: at %v %v", f.number, f.at, f.kind)
	switch f.kind {
	case rankDies, leaderDies:
		return text + fmt.Sprintf(", rank %d of node %d, after %d/1000 of a step", f.rank, f.machine-1, f.part)
	case launcherDies:
		return text + fmt.Sprintf(", its machine %v", f.part < 500)
	case wayCut:
		return text + fmt.Sprintf(" from members %b to %b, both ways %v, for %v", f.from, f.to, f.both, f.length)
	case machinePauses, daemonPauses:
		return text + fmt.Sprintf(", member %d, for %v", f.machine, f.length)
	case cablesBreak:
		return text + fmt.Sprintf(" from members %b to %b", f.from, f.to)
	}
	return text + fmt.Sprintf(", node %d", f.machine-1)
}

// happens reports whether a fault of the plan is not left out.
func (r *nodeRun) happens(number int) bool {
	return r.options.Faults == nil || slices.Contains(r.options.Faults, number)
}

// planNodeFaults draws the faults of the run. No more voting machines die than the job can survive,
// as far as this is known in advance.
func (r *nodeRun) planNodeFaults() {
	members := len(r.stations)
	mortal := members - 1
	if r.setup.survive {
		mortal = (members - 1) / 2
	}
	last := mono.Duration(0)
	for number := range r.setup.faults {
		t := r.draw(forNodeFault, number)
		f := r.drawNodeFault(t, number)
		if number > 0 && t.Percent(r.setup.together) {
			f.at = min(last+t.Tail(r.setup.delay), r.setup.safety-1)
		}
		last = f.at
		if slices.Contains([]nodeFaultKind{daemonDies, nodeDies, launcherDies, ordersBreak}, f.kind) {
			if mortal == 0 {
				f.kind = machinePauses
			} else {
				mortal--
			}
		}
		f.length = min(f.length, r.setup.safety-f.at)
		r.faults = append(r.faults, f)
		if r.happens(number) {
			r.plan(f.at, func() { r.strike(f) })
		}
	}
}

func (r *nodeRun) drawNodeFault(t *world.Tape, number int) nodeFault {
	members, timeout := len(r.stations), r.setup.timeout()
	f := nodeFault{number: number, at: t.UpTo(r.setup.within), machine: t.Between(1, members-1), part: 1000}
	f.kind = []nodeFaultKind{
		rankDies, rankDies, rankDies, leaderDies, leaderDies, leaderDies, daemonDies, nodeDies, launcherDies,
		machinePauses, machinePauses, daemonPauses, wayCut, wayCut, wayCut, cablesBreak, cablesBreak, ordersBreak,
	}[t.Below(18)]
	f.rank = t.Below(len(r.stations[f.machine].ranks))
	if t.Percent(60) {
		f.part = t.Below(1000)
	}
	f.length = t.UpTo([]mono.Duration{timeout / 4, timeout, 2 * timeout, 6 * timeout, 3*mono.Second + 2*r.setup.link}[t.Below(5)]) + 1
	all := uint64(1)<<members - 1
	f.from, f.to = t.Next()&all, t.Next()&all
	switch t.Below(5) {
	case 0, 1: // two of them
		f.from = 1 << t.Below(members)
		f.to = 1 << t.Below(members)
	case 2, 3: // two sides of one partition
		f.to = all &^ f.from
	}
	f.both = t.Percent(60)
	f.breaks = []int{0, 30, 100}[t.Below(3)]
	switch f.kind {
	case launcherDies:
		f.machine = membership.Launcher
		if !r.setup.survive && t.Percent(70) { // all would end: rarely
			f.kind, f.machine = rankDies, 1
			f.rank = t.Below(len(r.stations[1].ranks))
		}
	case machinePauses, daemonPauses:
		f.machine = t.Below(members)
	}
	return f
}

// strike makes a fault happen.
func (r *nodeRun) strike(f nodeFault) {
	r.report.Faults++
	r.trace("", "FAULT %v", f)
	s := r.stations[f.machine]
	switch f.kind {
	case rankDies:
		s.ranks[f.rank].meetDeath(f.part)
	case leaderDies:
		if i := slices.IndexFunc(s.ranks, func(p *nodeRank) bool { return !p.ended() }); i >= 0 {
			s.ranks[i].meetDeath(f.part)
		}
	case launcherDies:
		if f.part < 500 {
			s.powerOff()
		} else {
			s.daemonDies()
		}
	case daemonDies:
		s.daemonDies()
	case nodeDies:
		s.powerOff()
	case ordersBreak:
		s.condemned = true
		r.stations[membership.Launcher].tell(membership.Condemned{Member: s.me})
		r.check.getsItsDeclaration(s)
	case machinePauses:
		s.pause(f.length)
	case daemonPauses:
		s.stopped++
		r.plan(f.length, func() {
			s.stopped--
			s.stood = r.now
			s.resume()
		})
	case wayCut:
		r.cutWays(f)
	case cablesBreak:
		for _, c := range slices.Clone(r.cables) {
			if f.joins(c.ends[0].me.station.me, c.ends[1].me.station.me) {
				c.breakApart()
			}
		}
	}
}

// meetDeath makes a rank die in the middle of its next step, or soon if there is none.
func (p *nodeRank) meetDeath(part int) {
	if p.ended() || p.doom > 0 {
		return
	}
	p.doom = part + 1
	p.run.plan(p.run.setup.period, func() {
		if !p.ended() {
			p.die()
		}
	})
}

// daemonDies ends a daemon, and its ranks with it. The others notice that connections end, and that
// no process listens there.
func (s *station) daemonDies() {
	if s.gone || s.over {
		return
	}
	s.gone = true
	for _, p := range s.ranks {
		if !p.ended() {
			p.kill()
		}
	}
	for _, other := range s.run.stations {
		if other != s {
			s.run.plan(2*s.run.delay(s.run.draw(forDial, -1-s.me)), func() { s.refuse(other) })
		}
	}
}

// refuse informs another daemon that its dial was refused.
func (s *station) refuse(other *station) {
	r := s.run
	switch {
	case r.net.cut(s, other):
		r.net.whenWhole(s, other, func() { s.refuse(other) })
	case r.net.cut(other, s):
		r.net.whenWhole(other, s, func() { s.refuse(other) })
	case s.off:
	case s.paused > 0:
		r.plan(r.setup.period, func() { s.refuse(other) })
	case !other.gone:
		other.tell(membership.Refused{Member: s.me})
	}
}

// powerOff ends a machine, which is then silent.
func (s *station) powerOff() {
	s.gone, s.off = true, true
	for _, p := range s.ranks {
		if !p.ended() {
			p.kill()
		}
	}
}

// pause pauses a machine. Events wait in its queues meanwhile. When the machine resumes, its daemon
// and its ranks run in any order.
func (s *station) pause(length mono.Duration) {
	r := s.run
	s.paused++
	r.plan(length, func() {
		if s.paused--; s.paused > 0 {
			return
		}
		r.trace(s.name(), "the machine goes on")
		s.stood = r.now
		s.late = true
		queued := s.queued
		s.queued = nil
		for _, do := range queued {
			do()
		}
		soon := func() mono.Duration { return r.draw(forResume, s.me).UpTo(r.setup.sleepy) + 1 }
		r.plan(soon(), s.resume)
		for _, p := range s.ranks {
			r.plan(soon(), p.goOn)
		}
	})
}

// joins reports whether the fault names a path from one member to another.
func (f nodeFault) joins(from, to int) bool {
	leads := func(a, b int) bool { return f.from>>a&1 == 1 && f.to>>b&1 == 1 }
	return from != to && (leads(from, to) || f.both && leads(to, from))
}

// cutWays cuts paths for a while. Connections on these paths break, or wait.
func (r *nodeRun) cutWays(f nodeFault) {
	each := func(do func(from, to *station)) {
		for _, from := range r.stations {
			for _, to := range r.stations {
				if f.joins(from.me, to.me) {
					do(from, to)
				}
			}
		}
	}
	each(r.net.sever)
	for _, c := range slices.Clone(r.cables) {
		a, b := c.ends[0].me.station, c.ends[1].me.station
		if (f.joins(a.me, b.me) || f.joins(b.me, a.me)) && r.draw(forBreaking, c.ends[0].name()).Percent(f.breaks) {
			c.breakApart()
		}
	}
	r.plan(f.length, func() {
		each(func(from, to *station) {
			r.net.mend(from, to)
			if from.me == membership.Launcher || to.me == membership.Launcher {
				from.inTrouble()
				to.inTrouble()
			}
		})
	})
}
