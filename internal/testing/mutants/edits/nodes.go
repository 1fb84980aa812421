package edits

import "slices"

// nodes returns the bugs of the rules of several nodes: lanes that survive their connections, the
// liveness of nodes, the slots of their processes, and nodes that come late.
func nodes() []Edit {
	return slices.Concat(lanes(), detection(), rings(), succession(), mixedReads(), slotsOfNodes(), lateNodes())
}

func lanes() []Edit {
	const dir = "internal/protocol/session/"
	return []Edit{
		{
			Name: "session-from", Rule: "a sender continues after the bytes that the receiver has",
			Changes: []Change{{File: dir + "shake.go", Old: "s.act(Opened{Conn: c, From: from})", New: "s.act(Opened{Conn: c, From: s.out.acked})"}},
			Tests:   []Test{{Run: "TestI19"}},
		},
		{
			Name: "session-insists", Rule: "of two simultaneous attempts, the attempt of the lower number wins",
			Changes: []Change{{File: dir + "shake.go", Old: "return s.mine != 0 &&", New: "return false &&"}},
			Tests:   []Test{{Run: "TestScripts/simultaneous_open"}},
		},
		{
			Name: "session-asks", Rule: "an end that cannot dial requests a dial from its peer",
			Changes: []Change{{File: dir + "shake.go", Old: "\t\ts.act(Ask{})\n", New: ""}},
			Tests:   []Test{{Run: "TestScripts/asks"}},
		},
		{
			Name: "session-asked-closed", Rule: "an end that closed an unused lane dials on request",
			Changes: []Change{{File: dir + "shake.go", Old: "func (s *Session) asked() {\n\tif s.state == Idle {", New: "func (s *Session) asked() {\n\tif s.state == Idle && !s.end.wanted {"}},
			Tests:   []Test{{Run: "TestScripts/asks"}},
		},
		{
			Name: "session-gives-way", Rule: "the lower number insists for a second only",
			Changes: []Change{{File: dir + "shake.go", Old: " && s.now < s.since.Add(BusyFor)", New: ""}},
			Tests:   []Test{{Run: "TestSimultaneousOpenExhaustively"}},
		},
		{
			Name: "session-stale-count", Rule: "a hello with a lower count than was acknowledged is stale",
			Changes: []Change{{File: dir + "shake.go", Old: "return older || h.Received < s.out.acked", New: "return older"}},
			Tests:   []Test{{Run: "TestGoodbyeExhaustively"}},
		},
		{
			Name: "session-stale-attempt", Rule: "a hello that its sender has abandoned cuts no lane",
			Changes: []Change{{File: dir + "shake.go", Old: "older := s.state == Open && s.met && int16(h.Attempt-s.heard) <= 0", New: "older := false"}},
			Tests:   []Test{{Run: "TestScripts/stale_hello"}},
		},
		{
			Name: "session-ack-again", Rule: "an acknowledgement may be lost with its connection: a new connection repeats the acknowledgement",
			Changes: []Change{{File: dir + "shake.go", Old: "s.in.due, s.in.told = s.in.taken > 0, 0", New: "s.in.due = false"}},
			Tests:   []Test{{Run: "TestGoodbyeExhaustively"}},
		},
		{
			Name: "session-conn", Rule: "bytes of a connection that was dropped do not count",
			Changes: []Change{{File: dir + "stream.go", Old: "if c == s.Current() && c != 0 {", New: "if true {"}},
			Tests:   []Test{{Run: "TestOtherConnectionsDoNotCount"}},
		},
		{
			Name: "session-bye", Rule: "an end sends bye only after the acknowledgement of all its bytes",
			Changes: []Change{{File: dir + "goodbye.go", Old: "if s.out.acked < s.out.queued {", New: "if false {"}},
			Tests:   []Test{{Run: "TestGoodbyeExhaustively"}},
		},
		{
			Name: "session-asks-again", Rule: "a request for a dial may be lost and is repeated",
			Changes: []Change{{File: dir + "session.go", Old: "\t} else if !s.connected {\n\t\tnext = min(next, s.ask)\n", New: ""}, {File: dir + "shake.go", Old: "s.ask = s.now.Add(s.asks)", New: "s.ask = s.now.Add(1000 * AskLast)"}},
			Tests:   []Test{{Run: "TestScripts/asks"}},
		},
		{
			Name: "lasting-count", Rule: "a stream continues after the bytes that the peer has",
			Changes: []Change{{File: "internal/net/socket/lasting.go", Old: "[]byte{answerGoOn}, received)", New: "[]byte{answerGoOn}, max(received, 1)-1)"}},
			Tests:   []Test{{Run: "TestLastingOverCuts"}},
		},
		{
			Name: "lasting-over", Rule: "a closed stream is not opened again",
			Changes: []Change{{File: "internal/net/socket/lasting.go", Old: "hello[0] == helloFirst && ", New: ""}},
			Tests:   []Test{{Run: "TestLastingEnds"}},
		},
		{
			Name: "unmet-both", Rule: "a report names two nodes only if neither can dial the other",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/unmet_linux.go", Old: "_, both := u.roads[r.back()]; both", New: "true"}},
			Tests:   []Test{{Run: "TestUnmet"}},
		},
		{
			Name: "complaint-alone", Rule: "the complaint of one node alone condemns nobody: a process of the other node may stand still",
			Changes: []Change{{File: "internal/protocol/membership/complaint.go", Old: " || !h.holdsForLong(r, c.of, c.by)", New: ""}},
			Tests:   []Test{{Run: "TestB27LinkTrouble"}},
		},
		{
			Name: "complaint-of-the-dead", Rule: "the end of a process withdraws its complaints",
			Changes: []Change{{File: "internal/joblaunch/remotedaemon/complaints_linux.go", Old: "\t\tif l.proc == proc {\n", New: "\t\tif false {\n"}},
			Tests:   []Test{{Run: "TestComplaints"}},
		},
		{
			Name: "session-bye-ack", Rule: "a closed end still answers a bye",
			Changes: []Change{{File: dir + "goodbye.go", Old: "\t\ts.act(WriteByeAck{Conn: c}) // the", New: "\t\t// the"}},
			Tests:   []Test{{Run: "TestGoodbyeExhaustively"}},
		},
	}
}

// mixedReads returns bugs of a goroutine that reads a lane while another goroutine of its
// process waits.
func mixedReads() []Edit {
	const dir = "internal/net/transport/tcp/"
	tests := []Test{{Run: "TestPeek"}}
	return []Edit{
		{
			Name: "peek-room", Rule: "an acknowledgement that makes room is reported, whichever call reads it",
			Changes: []Change{{File: dir + "lane_linux.go", Old: "	if l.refused {\n", New: "	if false {\n"}},
			Tests:   tests,
		},
		{
			Name: "peek-ask", Rule: "the request for an acknowledgement is answered, whichever call reads it",
			Changes: []Change{{File: dir + "mesh_linux.go", Old: "			l.sweep()\n			return f, false\n", New: "			return f, false\n"}},
			Tests:   tests,
		},
		{
			Name: "held-frame", Rule: "a gathered frame wakes a sleeping goroutine",
			Changes: []Change{{File: dir + "mesh_linux.go", Old: "		m.rouse() // another", New: "		// another"}},
			Tests:   []Test{{Run: "TestAFrameHeldBackWakes"}},
		},
	}
}

// slotsOfNodes returns bugs of reused slots.
func slotsOfNodes() []Edit {
	return []Edit{
		{
			Name: "slots-lane", Rule: "the next process in a slot has a lane of its own",
			Changes: []Change{{File: "internal/net/transport/tcp/mesh_linux.go", Old: "if l != nil && l.closed && l.birth != m.birth(slot) {", New: "if false {"}},
			Tests:   []Test{{Run: "TestTheNextProcessOfASlot"}},
		},
		{
			Name: "slots-birth", Rule: "a process that listens at a reused address accepts no frames for the earlier process",
			Changes: []Change{{File: "internal/net/transport/tcp/mesh_linux.go", Old: "return p.Birth + uint64(generation)*0x9e3779b97f4a7c15", New: "return p.Birth + uint64(generation)*0"}},
			Tests:   []Test{{Run: "TestTheNextProcessOfASlot"}},
		},
		{
			Name: "slots-late-news", Rule: "a report of a death is about one process, and not about the next process in its slot",
			Changes: []Change{{File: "internal/joblaunch/remotedaemon/roll_linux.go", Old: " || r.d.Number(slot) != proc", New: ""}},
			Tests:   []Test{{Run: "TestLateNewsOfTheProcessBefore"}},
		},
		{
			Name: "slots-lost", Rule: "the death of a process that may still send is never forgotten",
			Changes: []Change{{File: "internal/protocol/control/slot.go", Old: " || c.lost.Has(proc)", New: ""}},
			Tests:   []Test{{Run: "TestLostIsNeverLetGo"}},
		},
		{
			Name: "slots-barred", Rule: "a request does not wait for the slots of a lost node",
			Changes: []Change{{File: "internal/protocol/job/slots.go", Old: " && !slices.Contains(ev.Barred, slot)", New: ""}},
			Tests:   []Test{{Run: "TestScripts/nodes"}},
		},
		{
			Name: "node-lost-at-start", Rule: "after the start of its processes the end of a node is a loss, not a failed start",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/node_linux.go", Old: "if n.f.hasStarted(n) {", New: "if false {"}},
			Tests:   []Test{{Run: "TestANodeIsLostAtItsStart"}},
		},
	}
}

// lateNodes returns bugs of nodes that join a running job.
func lateNodes() []Edit {
	return []Edit{
		{
			Name: "late-row", Rule: "processes find the processes of a node that joined later",
			Changes: []Change{{File: "internal/joblaunch/boot/table_linux.go", Old: "if lines, err := r.next(); err == nil {", New: "if lines, err := r.next(); err == nil && false {"}},
			Tests:   []Test{{Package: "internal/joblaunch/boot", Run: "TestTableFile"}},
		},
		{
			Name: "late-half-row", Rule: "an incomplete row of the table is not read yet",
			Changes: []Change{{File: "internal/joblaunch/boot/table_linux.go", Old: "r.at += int64(end)", New: "r.at += int64(len(text))"}},
			Tests:   []Test{{Package: "internal/joblaunch/boot", Run: "TestHalfARow"}},
		},
		{
			Name: "late-used", Rule: "a late node learns the number of earlier processes in each slot",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/late_linux.go", Old: "table.Used = append(table.Used, f.used...)", New: "table.Used = nil"}},
			Tests:   []Test{{Run: "TestLateNode"}},
		},
		{
			Name: "late-history", Rule: "a late node learns the departed processes",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/late_linux.go", Old: "for _, m := range h.departed {", New: "for _, m := range map[int]daemonproto.Declare{} {"}},
			Tests:   []Test{{Run: "TestLateNode"}},
		},
		{
			Name: "late-forgotten", Rule: "a late node learns nothing about a departed process whose slot has another process",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/slots_linux.go", Old: "\t\tf.history.forget(proc)\n", New: ""}},
			Tests:   []Test{{Run: "TestLateNode"}},
		},
		{
			Name: "late-known", Rule: "no process starts on a node before all others know its address",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/client_linux.go", Old: " || n.isNew.Load()", New: ""}},
			Tests:   []Test{{Run: "TestLateNode"}},
		},
		{
			Name: "late-barred", Rule: "no process starts in slots without a node",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/client_linux.go", Old: "!n.is(isThere) || ", New: ""}},
			Tests:   []Test{{Run: "TestLateNode"}},
		},
		{
			Name: "late-spares", Rule: "spares that found no room start when there is room",
			Changes: []Change{{File: "internal/protocol/job/job.go", Old: "\tcase Roomier:\n\t\tr.refill(false)", New: "\tcase Roomier:"}},
			Tests:   []Test{{Run: "TestScripts/spares"}},
		},
		{
			Name: "late-twice", Rule: "a daemon that returns after an unused invitation waits on standby",
			Changes: []Change{{File: "internal/joblaunch/enginejob/standby_linux.go", Old: "case has && in.Standby:", New: "case false:"}},
			Tests:   []Test{{Package: "internal/joblaunch/enginejob", Run: "TestInvitations"}},
		},
	}
}

func detection() []Edit {
	const dir = "internal/protocol/membership/"
	return []Edit{
		{
			Name: "roster-F4", Rule: "a member with grants of the coordinator is not declared, whatever other members suspect",
			Changes: []Change{{File: dir + "coordinator.go", Old: "return max(fenced, counted.Add(r.cfg.Timeout))", New: "return counted"}},
			Tests:   []Test{{Run: "TestF4"}},
		},
		{
			Name: "roster-F5", Rule: "no member is declared before its lease has expired on the slowest clock",
			Changes: []Change{{File: dir + "config.go", Old: "return c.Timeout + c.Timeout/1000 + max(c.Period/10, 2*mono.Millisecond)", New: "return c.Timeout"}},
			Tests:   []Test{{Run: "TestF5"}},
		},
		{
			Name: "roster-F5-deaf", Rule: "a member that sends and does not receive gets no grants",
			Changes: []Change{{File: dir + "coordinator.go", Old: "r.now.Sub(at) <= r.cfg.Timeout {", New: "true {"}},
			Tests:   []Test{{Run: "TestF11LeaseOverIsFrozen"}},
		},
		{
			Name: "roster-F6", Rule: "messages of declared members are dropped",
			Changes: []Change{{File: dir + "roster.go", Old: "\tif r.isDead(from) {\n\t\tr.dropped++", New: "\tif false {\n\t\tr.dropped++"}},
			Tests:   []Test{{Run: "TestF6"}},
		},
		{
			Name: "roster-F8", Rule: "after a pause a member checks its lease first",
			Changes: []Change{{File: dir + "roster.go", Old: "\tr.checkLease()\n\tif r.ended {", New: "\tif r.ended {"}},
			Tests:   []Test{{Run: "TestF8"}},
		},
		{
			Name: "roster-F9", Rule: "the losing side ends at the orphan time",
			Changes: []Change{{File: dir + "lease.go", Old: "\tcase l.frozen && r.now >= l.since.Add(r.cfg.Orphan):\n\t\tr.end(r.now.Sub(l.since))", New: "\tcase l.frozen && r.now >= l.since.Add(r.cfg.Orphan):\n\t\tl.since = r.now"}},
			Tests:   []Test{{Run: "TestHalfAtOnceCannotBeSurvived"}},
		},
		{
			Name: "roster-F11", Rule: "a lease is counted from the sending of the beat",
			Changes: []Change{{File: dir + "lease.go", Old: "r.renew(l.sent[m.seq%beatsKept].Add(r.cfg.Timeout))", New: "r.renew(r.now.Add(r.cfg.Timeout))"}},
			Tests:   []Test{{Run: "TestF11CountedFromTheBeat"}},
		},
		{
			Name: "roster-F11-late", Rule: "a member's own lateness prolongs no lease",
			Changes: []Change{{File: dir + "roster.go", Old: "\tr.voter.quiet = r.voter.quiet.Add(late)\n", New: "\tr.lease.until = r.lease.until.Add(late)\n"}},
			Tests:   []Test{{Run: "TestF11LatenessProlongsNoLease"}},
		},
		{
			Name: "roster-B10", Rule: "the answer to the probe of a suspicion takes another path than the heartbeats",
			Changes: []Change{{File: dir + "ring.go", Old: "&& !answering {", New: "&& (!answering || answering) {"}},
			Tests:   []Test{{Run: "TestB10SecondPath"}},
		},
		{
			Name: "roster-B17", Rule: "a member's own lateness is no silence of other members",
			Changes: []Change{{File: dir + "roster.go", Old: "\tif late > r.cfg.Period {", New: "\tif late > r.cfg.Period && false {"}},
			Tests:   []Test{{Run: "TestB17"}},
		},
		{
			Name: "roster-B22", Rule: "the ring does not declare",
			Changes: []Change{{File: dir + "config.go", Old: "Start: c.Start, AllowShortTimeouts: true,", New: "Start: c.Start, AllowShortTimeouts: true, Fence: true,"}},
			Tests:   []Test{{Run: "TestB22"}},
		},
		{
			Name: "roster-B23", Rule: "entries are learned in the order of their list",
			Changes: []Change{{File: dir + "news.go", Old: "\tif r.first > known {", New: "\tif r.first > known && false {"}},
			Tests:   []Test{{Run: "TestB23"}},
		},
		{
			Name: "roster-link", Rule: "a condemned member gets no more grants",
			Changes: []Change{{File: dir + "coordinator.go", Old: " && !h.condemned.Has(to)", New: ""}},
			Tests:   []Test{{Run: "TestB27LinkTrouble"}},
		},
		{
			Name: "roster-quality", Rule: "the ring suspects no member before its lease has expired",
			Changes: []Change{{File: dir + "config.go", Old: "; ring.Timeout < c.Timeout {", New: "; ring.Timeout < 0 {"}},
			Tests:   []Test{{Run: "TestConfigCheck"}},
		},
		{
			Name: "roster-late-lease", Rule: "a late member runs only after its first grant",
			Changes: []Change{{File: dir + "lease.go", Old: "if !cfg.Late {", New: "if true {"}},
			Tests:   []Test{{Run: "TestScripts/late"}},
		},
		{
			Name: "roster-late-counted", Rule: "the silence of a late member counts only from its start",
			Changes: []Change{{File: dir + "late.go", Old: "r.coordinator.meet(member, r)", New: "_ = r.coordinator.meet"}},
			Tests:   []Test{{Run: "TestScripts/late"}},
		},
		{
			Name: "roster-absent-declared", Rule: "an absent member is not declared",
			Changes: []Change{{File: dir + "coordinator.go", Old: "!gone.Has(m) && !r.absent.Has(m) &&", New: "!gone.Has(m) &&"}},
			Tests:   []Test{{Run: "TestScripts/late"}},
		},
		{
			Name: "fd-late-claim", Rule: "a claim of an observer from beyond a late member is older than that member",
			Changes: []Change{{File: "fd/ring.go", Old: "if d.skips(from) {", New: "if false {"}},
			Tests:   []Test{{Run: "TestScripts/late"}},
		},
		{
			Name: "roster-stale-report", Rule: "a report that is not repeated is void",
			Changes: []Change{{File: dir + "coordinator.go", Old: "; r.now.Sub(p.reports) <= r.cfg.Timeout {", New: "; p != nil {"}},
			Tests:   []Test{{Run: "TestReportsGoStale"}},
		},
	}
}

func rings() []Edit {
	const dir = "internal/protocol/membership/"
	return []Edit{
		{
			Name: "roster-B26", Rule: "neighbours on the ring are in different racks",
			Changes: []Change{{File: dir + "ringorder.go", Old: "\t\tb := i % len(blocks)\n", New: "\t\tb := i * 0\n"}},
			Tests:   []Test{{Run: "TestB26LossOfARack"}},
		},
		{
			Name: "roster-B26-spread", Rule: "a rack with more than half of the nodes is divided into runs of similar length",
			Changes: []Change{{File: dir + "ringorder.go", Old: "\t\t\tb = i * len(blocks) / len(others)\n", New: "\t\t\tb = i\n"}},
			Tests:   []Test{{Run: "TestB26RingOrder"}},
		},
		{
			Name: "roster-B26-positions", Rule: "a declaration names members, not positions on the ring",
			Changes: []Change{{File: dir + "ringorder.go", Old: "return fd.Agreed{Dead: renumber(ev.Dead, g.position)}", New: "return ev"}},
			Tests:   []Test{{Run: "TestRingOfRacksSpeaksOfMembers"}, {Run: "TestB26LossOfARack"}},
		},
		{
			Name: "roster-B26-table", Rule: "the racks of a host file are sent to the members",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/muster_linux.go", Old: ", Racks: m.racks}", New: "}"}},
			Tests:   []Test{{Run: "TestTableOfRacks"}},
		},
		{
			Name: "hostlist-rack", Rule: "a host has one rack",
			Changes: []Change{{File: "internal/joblaunch/hostlist/file.go", Old: "\tif old.Rack != \"\" && h.Rack != \"\" && old.Rack != h.Rack {", New: "\tif false {"}},
			Tests:   []Test{{Run: "TestParseFileErrors"}},
		},
	}
}

func succession() []Edit {
	const dir = "internal/protocol/membership/"
	return []Edit{
		{
			Name: "roster-F12", Rule: "a version counts after a majority has recorded it",
			Changes: []Change{{File: dir + "coordinator.go", Old: "\tif isMajority(h.wrote, h.record.votersBefore(r.cfg.Members)) {", New: "\tif true {"}},
			Tests:   []Test{{Run: "TestF12VersionsAreAChain"}},
		},
		{
			Name: "roster-F12-before", Rule: "the voters of a version are the members that lived before it",
			Changes: []Change{{File: dir + "record.go", Old: "\tall.Union(r.Last)\n\treturn all", New: "\treturn all"}},
			Tests:   []Test{{Run: "TestF12VersionsAreAChain"}},
		},
		{
			Name: "roster-F12-half", Rule: "two halves are not both a majority",
			Changes: []Change{{File: dir + "record.go", Old: "return have.Has(voters.Next(0))", New: "return true"}},
			Tests:   []Test{{Run: "TestMajoritiesMeet"}},
		},
		{
			Name: "roster-F12-promise", Rule: "a member that has promised a later coordinator records nothing for an earlier one",
			Changes: []Change{{File: dir + "succession.go", Old: "if record.Epoch < v.promised ||", New: "if"}},
			Tests:   []Test{{Run: "TestF12VersionsAreAChain"}},
		},
		{
			Name: "roster-F12-newest", Rule: "a new coordinator continues from the newest record",
			Changes: []Change{{File: dir + "succession.go", Old: "if known.newer(newest) {", New: "if known.newer(newest) && false {"}},
			Tests:   []Test{{Run: "TestF12VersionsAreAChain"}},
		},
		{
			Name: "roster-F12-elected", Rule: "a coordinator has the support of a majority",
			Changes: []Change{{File: dir + "succession.go", Old: "if isMajority(by, newest.voters(r.cfg.Members)) && !newest", New: "if !newest"}},
			Tests:   []Test{{Run: "TestF12VersionsAreAChain"}},
		},
		{
			Name: "roster-F12-support", Rule: "a coordinator acts while a majority answers it",
			Changes: []Change{{File: dir + "coordinator.go", Old: "(!r.cfg.Survive || h.isSupported(r))", New: "true"}},
			Tests:   []Test{{Run: "TestI20I18Surviving"}},
		},
		{
			Name: "roster-F12-arrival", Rule: "the age of a support is the age of the answer that the voter named",
			Changes: []Change{{File: dir + "coordinator.go", Old: "max(p.backed, at)", New: "r.now"}},
			Tests:   []Test{{Run: "TestF12SupportIsAsOldAsTheAnswer"}},
		},
		{
			Name: "roster-F12-backs", Rule: "a member that has promised a later coordinator supports no earlier one",
			Changes: []Change{{File: dir + "coordinator.go", Old: "\t\t\tif m.promised <= m.epoch {", New: "\t\t\tif true {"}},
			Tests:   []Test{{Run: "TestFollowsWithoutPromise"}},
		},
		{
			Name: "roster-follows", Rule: "a member that promised alone follows the coordinator of the others",
			Changes: []Change{{File: dir + "succession.go", Old: "case !m.yes && m.promised < v.promised && m.promised != v.follows:", New: "case false:"}},
			Tests:   []Test{{Run: "TestFollowsWithoutPromise"}},
		},
		{
			Name: "roster-stray", Rule: "a single support unseats no coordinator",
			Changes: []Change{{File: dir + "succession.go", Old: "if r.isQuiet() || v.promised == epoch {", New: "if true {"}},
			Tests:   []Test{{Run: "TestStraySupport"}},
		},
		{
			Name: "roster-start", Rule: "the start counts as a grant, on whatever clock",
			Changes: []Change{{File: dir + "roster.go", Old: "\tr.voter.quiet = cfg.Start\n", New: ""}},
			Tests:   []Test{{Run: "TestLateDaemons"}},
		},
		{
			Name: "roster-F12-waits", Rule: "a new coordinator waits until its predecessor has stopped",
			Changes: []Change{{File: dir + "succession.go", Old: "r.now.Add(r.cfg.actAfter()))", New: "r.now)"}},
			Tests:   []Test{{Run: "TestSafetyNeedsNoDelays"}},
		},
		{
			Name: "roster-F12-adopted", Rule: "a member that an earlier coordinator began to declare may have had later grants",
			Changes: []Change{{File: dir + "coordinator.go", Old: "\t\tif r.now < h.fencedAt(r, m, e) {", New: "\t\tif r.now < h.fencedAt(r, m, e) && false {"}},
			Tests:   []Test{{Run: "TestF12GoesOnFromTheNewest"}},
		},
		{
			Name: "roster-canvass", Rule: "a member that alone has no coordinator promises nothing",
			Changes: []Change{{File: dir + "succession.go", Old: "if v.target > v.promised && isMajority(v.yes, v.record.voters(r.cfg.Members)) {", New: "if v.target > v.promised {"}},
			Tests:   []Test{{Run: "TestScripts/half_dies"}},
		},
	}
}
