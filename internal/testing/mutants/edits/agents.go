package edits

// agents returns the bugs of gridrpc/internal/tree: the rules that the published algorithm
// lacks.
func agents() []Edit {
	const file, search, links = "gridrpc/internal/tree/tree.go", "gridrpc/internal/tree/search.go", "gridrpc/internal/tree/links.go"
	lives := []Test{{Run: "TestRandomLives"}}
	return []Edit{
		{
			Name: "tree-tier", Rule: "an agent accepts a child of a greater tier only (T1)",
			Changes: []Change{{File: file, Old: "tiered := t.me.Tier != Untiered && (ev.Child.Tier == Untiered || ev.Child.Tier > t.me.Tier)", New: "tiered := true"}},
			Tests:   lives,
		},
		{
			Name: "tree-tier-told", Rule: "an agent accepts a child that has a tier only if that tier is greater: the answer of the oracle may be stale (T1)",
			Changes: []Change{{File: file, Old: "(ev.Child.Tier == Untiered || ev.Child.Tier > t.me.Tier)", New: "true"}},
			Tests:   lives,
		},
		{
			Name: "tree-generation", Rule: "a list of a former parent changes nothing (T2)",
			Changes: []Change{
				{File: file, Old: "|| ev.From != t.parent.ID || ev.Generation != t.generation", New: ""},
				{File: links, Old: "if u := l.up(ev.Generation); u != nil {\n\t\t\tev.From = u.peer\n\t\t\tl.apply(ev)\n\t\t}", New: "l.apply(ev)"},
			},
			Tests: lives,
		},
		{
			Name: "tree-first", Rule: "children get a new list if any place differs, also the first (T3)",
			Changes: []Change{{File: file, Old: "slices.Equal(list, t.ancestors) &&", New: "len(t.ancestors) > 0 && slices.Equal(list[1:], t.ancestors[1:]) &&"}},
			Tests:   lives,
		},
		{
			Name: "tree-leave", Rule: "a process that leaves its parent on a wrong suspicion notifies the parent (T9)",
			Changes: []Change{{File: file, Old: "t.act(Leave{Peer: ev.Who, Generation: t.generation, Up: true}) // T9", New: ""}},
			Tests:   lives,
		},
		{
			Name: "tree-term", Rule: "no process joins again below a root of a lesser term (T11)",
			Changes: []Change{{File: search, Old: "if ev.Term < t.term {", New: "if false {"}},
			Tests:   lives,
		},
		{
			Name: "tree-term-told", Rule: "children learn of a new term, even if none of the ancestors in their list changes (T11)",
			Changes: []Change{{File: file, Old: " && term == t.term {", New: " {"}},
			Tests:   lives,
		},
		{
			Name: "tree-deposed", Rule: "a deposed root closes its links (T11)",
			Changes: []Change{{File: file, Old: "t.drop(func(link) bool { return true }, true)", New: ""}},
			Tests:   lives,
		},
		{
			Name: "tree-deposed-takes", Rule: "a deposed root accepts no more children (T11)",
			Changes: []Change{{File: file, Old: "t.term, t.me.Tier = ev.Term, Untiered", New: "t.term = ev.Term"}},
			Tests:   lives,
		},
		{
			Name: "tree-link-identity", Rule: "a link that ends carries the identity of the process that accepted the link, not the dialed name (T13)",
			Changes: []Change{{File: links, Old: "u.peer, u.accepted = ev.Parent.ID, true // T13", New: "u.accepted = true"}},
			Tests:   []Test{{Run: "TestRandomLives"}, {Run: "TestBackInTheTree"}},
		},
		{
			Name: "tree-observe-again", Rule: "an ancestor that was declared by mistake is observed again (T10)",
			Changes: []Change{{File: search, Old: "t.observe() // also if", New: "// also if"}},
			Tests:   []Test{{Run: "TestObservedAgain"}},
		},
	}
}

// reports returns the bugs of examples that print a result: no member ends with success before
// the result is printed.
func reports() []Edit {
	const rule, old, without = "members agree after the print: if the printer has died, the next member prints", "_, err := c.AllOK(ctx, nil)", "var err error"
	return []Edit{
		{
			Name: "report-hashtable", Rule: rule,
			Changes: []Change{{File: "examples/hashtable/main.go", Old: old, New: without}},
			Tests:   []Test{{Run: "TestPrinterDies"}},
		},
		{
			Name: "report-sieve", Rule: rule,
			Changes: []Change{{File: "examples/sieve/sieve.go", Old: old, New: without}},
			Tests:   []Test{{Run: "TestPrinterDies"}},
		},
	}
}

// beats returns the bugs of gridrpc/internal/heartbeat and fd/beat: heartbeats without a
// connection.
func beats() []Edit {
	const watch, pulse = "gridrpc/internal/heartbeat/watch.go", "gridrpc/internal/heartbeat/pulse.go"
	return []Edit{
		{
			Name: "pulse-alone", Rule: "beats continue after the observer has closed its connection in order",
			Changes: []Change{{File: pulse, Old: "if alone = errors.Is(err, io.EOF); alone {", New: "if alone = err == io.EOF && false; alone {"}},
			Tests:   []Test{{Run: "TestConnectionEnds"}},
		},
		{
			Name: "pulse-anew", Rule: "an observer introduces itself again to a process that has forgotten it",
			Changes: []Change{{File: watch, Old: "if n.Unheard {", New: "if false {"}},
			Tests:   []Test{{Run: "TestIntroducedAnew"}},
		},
		{
			Name: "beat-farewell", Rule: "an observer without a connection ends the beats when it ends",
			Changes: []Change{{File: "fd/beat/monitor.go", Old: "if m.keyed && m.reached {", New: "if false {"}},
			Tests:   []Test{{Package: "gridrpc/internal/heartbeat", Run: "TestConnectionEnds"}},
		},
		{
			Name: "beat-lapse", Rule: "beats without a connection end after a long silence of the observer",
			Changes: []Change{{File: "fd/beat/sender.go", Old: "if now >= s.until {", New: "if false {"}},
			Tests:   []Test{{Run: "TestLapse"}},
		},
	}
}

// calls returns the bugs of gridrpc/internal/session, and of the ranking, the store and the
// sandbox of calls.
func calls() []Edit {
	const file, desk, places = "gridrpc/internal/session/session.go", "gridrpc/internal/session/desk.go", "gridrpc/internal/session/seats.go"
	scripts, seats := []Test{{Run: "TestScripts"}}, []Test{{Run: "TestSeats"}}
	return []Edit{
		{
			Name: "call-old-attempt", Rule: "a server refuses an attempt below the highest that it has seen (S1)",
			Changes: []Change{{File: desk, Old: "case known && attempt < seen:", New: "case false:"}},
			Tests:   []Test{{Run: "TestDesk"}},
		},
		{
			Name: "call-once", Rule: "with at most once, the loss of the server ends the call (S2)",
			Changes: []Change{{File: file, Old: "case s.cfg.AtMostOnce:", New: "case false:"}},
			Tests:   scripts,
		},
		{
			Name: "call-forgotten", Rule: "a server that has forgotten an accepted call may have run the call (S2)",
			Changes: []Change{{File: file, Old: "if s.accepted && s.cfg.AtMostOnce {", New: "if false {"}},
			Tests:   scripts,
		},
		{
			Name: "call-found", Rule: "a client that is attached to a kept call has no argument for another attempt (S9)",
			Changes: []Change{{File: file, Old: "case s.found:", New: "case false:"}},
			Tests:   scripts,
		},
		{
			Name: "call-found-lives", Rule: "a client that gives up the server of a kept call does not cancel the call (S9)",
			Changes: []Change{{File: file, Old: "s.over[len(s.over)-1] = true // if", New: "// if"}},
			Tests:   scripts,
		},
		{
			Name: "call-poison", Rule: "a call during which three servers were lost is not tried again (S4)",
			Changes: []Change{{File: file, Old: "case s.lost >= s.cfg.Losses:", New: "case false:"}},
			Tests:   scripts,
		},
		{
			Name: "call-seat-taken", Rule: "one call at a time uses a seat (S10)",
			Changes: []Change{{File: places, Old: "s.seats, s.left = slices.Delete(s.seats, i, i+1), slices.Delete(s.left, i, i+1)", New: ""}},
			Tests:   seats,
		},
		{
			Name: "call-seat-age", Rule: "a seat passes from call to call for at most a second after the request to a master (S10)",
			Changes: []Change{{File: places, Old: " && now.Sub(seat.Asked) < SeatAge {", New: " {"}},
			Tests:   seats,
		},
		{
			Name: "call-seat-dead", Rule: "a lost server has no seats (S10)",
			Changes: []Change{{File: places, Old: "if seat.Addr != addr {", New: "if addr != \"\" {"}},
			Tests:   seats,
		},
		{
			Name: "call-seat-refused", Rule: "a client whose seat is refused asks a master at once (S10)",
			Changes: []Change{{File: file, Old: "if len(s.candidates) == 0 && s.held {", New: "if false {"}},
			Tests:   scripts,
		},
		{
			Name: "call-near", Rule: "a request for another server names the checkpoint to continue from (S3)",
			Changes: []Change{{File: file, Old: "Fresh: s.fresh, Manifest: s.manifest}", New: "Fresh: s.fresh}"}},
			Tests:   scripts,
		},
		{
			Name: "best-near", Rule: "a server whose machine holds the checkpoint needs no transfer of the checkpoint",
			Changes: []Change{{File: "gridrpc/internal/ranking/table.go", Old: "if r.Saved > 0 && slices.Contains(r.Holders, e.Host) {", New: "if false {"}},
			Tests:   []Test{{Run: "TestCheckpointNearby"}},
		},
		{
			Name: "store-behind", Rule: "a store server that has not caught up may lack a file",
			Changes: []Change{{File: "gridrpc/store/jetstream/locate.go", Old: "if r.Current && !r.Offline {", New: "if !r.Offline {"}},
			Tests:   []Test{{Run: "TestHostsOf"}},
		},
		{
			Name: "sandbox-output", Rule: "output later than the image is discarded: the resumed program writes that output again",
			Changes: []Change{{File: "gridrpc/sandbox/box.go", Old: "os.Truncate(b.path(outputFile), b.last.Output)", New: "nil"}},
			Tests:   []Test{{Run: "TestResume"}},
		},
		{
			Name: "sandbox-processor", Rule: "an image is restored only on a processor of the same kind",
			Changes: []Change{{File: "gridrpc/sandbox/box.go", Old: "if here != b.last.CPU {", New: "if false {"}},
			Tests:   []Test{{Run: "TestResume"}},
		},
	}
}
