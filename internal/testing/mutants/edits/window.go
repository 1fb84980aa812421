package edits

// windows returns the bugs of one-sided windows.
func windows() []Edit {
	edit := func(name, rule, file, old, text, test string) Edit {
		return Edit{Name: "window-" + name, Rule: rule, Changes: []Change{{File: file, Old: old, New: text}}, Tests: []Test{{Package: "rma", Run: test}}}
	}
	inWindow := func(name, rule, file, old, text, test string) Edit {
		e := edit(name, rule, file, old, text, test)
		e.Tests[0].Package = ""
		return e
	}
	return []Edit{
		edit("dead", "an operation on a target that is known to be dead fails", "rma/sight.go", "case s.dead[rank]:", "case s.dead[rank] && false:", "TestSpecR60"),
		edit("agree", "a window is created at all members or at none", "rma/create.go", "case err == nil && flag&1 != 0:", "case err == nil && k.mine == nil:", "TestSpecW1OneOutcome"),
		inWindow("neighbours", "an atomic update of a small element does not change its neighbours", "internal/shm/window/atomic.go",
			"w&^(e.mask()<<e.shift)|uint32(v)<<e.shift", "uint32(v)<<e.shift", "TestElements"),
		edit("broken", "only mode Mend acquires a lock whose holder died", "rma/lock.go", "out := g.lock.Lock(robustlock.Mode(m))", "out := g.lock.Lock(max(robustlock.Mode(m), robustlock.Mend))", "TestSpecW11W23"),
		edit("epochs", "Start and WaitPosted wait for all of their ranks", "rma/epoch.go", "\t\t\treturn nil, false\n", "\t\t\treturn nil, true\n", "TestPostStart"),
		edit("fresh", "a rebuilt window inherits no lock", "rma/create.go", "if p.says, k.mine = k.newRegion(window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk), true); k.mine != nil {\n\t\treturn mine\n\t}",
			"if p.says, k.mine = k.newRegion(window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk), true); k.mine != nil {\n\t\treturn mine\n\t}\n\tif old := k.spec.old; old != nil {\n\t\tcopy(p.says.Bytes(), old.pieces[old.me].says.Bytes())\n\t}", "TestSpecW20"),
		edit("keep", "a kept window can be rebuilt once", "rma/rebuild.go", "\t\ts.old.letGo()\n", "\t\t_ = s.old.letGo\n", "TestSpecW21Keep"),
	}
}

// windowsAway returns bugs of windows whose members are reached by frames.
func windowsAway() []Edit {
	const target, remote, gate = "internal/net/rmaserver/target.go", "rma/remote.go", "internal/shm/node/gate.go"
	edit := func(name, rule, test string, in string, changes ...Change) Edit {
		return Edit{Name: "away-" + name, Rule: rule, Changes: changes, Tests: []Test{{Package: in, Run: test}}}
	}
	inEveryOrder := func(e Edit) Edit {
		e.Tests = append(e.Tests, Test{Package: "internal/shm/node", Run: "TestServedWindowInEveryOrder|TestDeadWaiterInEveryOrder"})
		return e
	}
	return []Edit{
		edit("flush", "a flush waits until the target has executed all earlier requests", "TestFlushIsThere", "rma",
			Change{remote, "if !k.isAway(rank) || k.remote[rank].isFlushed() {", "if true || !k.isAway(rank) || k.remote[rank].isFlushed() {"}),
		inEveryOrder(edit("silence", "no request is executed if a process of the node may know that its origin is dead", "TestFramesOfTheDeparted", "internal/engine",
			Change{gate, "!w.IsMourned(origin) && !w.HasDied(origin)", "true"})),
		inEveryOrder(edit("gate-order", "a server publishes the origin before it checks that the origin lives", "TestGateInEveryOrder", "",
			Change{gate, "\tw.SetServing(me, origin)\n\tif !w.IsMourned(origin) && !w.HasDied(origin) {\n", "\tif !w.IsMourned(origin) && !w.HasDied(origin) {\n\t\tw.SetServing(me, origin)\n"})),
		inEveryOrder(edit("gate-wait", "a process that learns of a death waits until no server executes a request of the dead process", "TestGateInEveryOrder", "",
			Change{gate, "server != me && w.IsServing(server, dead)", "server != me && w.IsServing(server, dead) && false"})),
		inEveryOrder(edit("mourn", "a process publishes a death before it checks the servers", "TestGateInEveryOrder", "",
			Change{gate, "\tw.Mourn(dead)\n", ""})),
		edit("gate-early", "a request takes effect before the server dismisses its origin", "TestServedWindowInEveryOrder", "internal/shm/node",
			Change{target, "\tanswers := t.execute(from, &f)\n\tt.gate.Dismiss()\n", "\tt.gate.Dismiss()\n\tanswers := t.execute(from, &f)\n"}),
		edit("mourn-first", "a death is published before the messages of the dead process are drained", "TestDeclaredDropsRequestsAlone", "",
			Change{"internal/engine/control.go", "\tp.memory.stores.mourn(p, a.Proc) // (0)", "\tdefer p.memory.stores.mourn(p, a.Proc) // (0)"},
			Change{gate, "!w.IsMourned(origin) && !w.HasDied(origin)", "!w.IsMourned(origin)"}),
		inEveryOrder(edit("waiter", "a server makes no step of the lock for a dead waiter", "TestNothingOfTheDead", "",
			Change{target, "a.reply != 0 && t.gate.Admit(a.origin) {", "a.reply != 0 && (t.gate.Admit(a.origin) || true) {"})),
		edit("told", "a target learns of deaths before the next request", "TestTargetIsToldOfDeaths", "rma",
			Change{remote, "\tif err := t.tellDead(ctx, op); err != nil {\n\t\treturn err\n\t}\n", ""},
			Change{remote, "\tif err := t.tellDead(ctx, op); err != nil {\n\t\treturn 0, err\n\t}\n", ""}),
		edit("written-asleep", "a frame is written at once while the leader is asleep", "TestGatheredFramesInEveryOrder", "internal/engine",
			Change{"internal/engine/send.go", "if p.leads.asleep.Load() && p.others.isAway(to) {", "if false {"}),
		edit("written-waiting", "a caller that waits for a word in memory writes its gathered frames first", "TestGatheredFramesInEveryOrder", "internal/engine",
			Change{"internal/engine/watch.go", "\tw.c.p.others.writeAllOut()\n", ""}),
		edit("written-pending", "a leader polls for gathered frames before it sleeps", "TestGatheredFramesInEveryOrder", "internal/engine",
			Change{"internal/engine/lead.go", "ready || ld.moved() || ld.p.link.Pending(-1) ||", "ready || ld.moved() ||"}),
		edit("written-loop", "the background loop polls for gathered frames before it sleeps", "TestGatheredFramesInEveryOrder", "internal/engine",
			Change{"internal/engine/background.go", "bg.p.leads.wanted.Load() > 0 || bg.p.link.Pending(-1) ||", "bg.p.leads.wanted.Load() > 0 ||"}),
		edit("written-order", "a leader marks itself asleep before its last poll", "TestGatheredFramesInEveryOrder", "internal/engine",
			Change{"internal/engine/lead.go", "\tld.p.node.Sleep(flag, mustPoll, most)\n",
				"\tld.asleep.Store(false)\n\tld.p.node.Sleep(flag, func() bool { over := mustPoll(); ld.asleep.Store(true); return over }, most)\n"}),
		edit("notify", "a notification comes after its data", "TestNotificationOfALongPut", "rma",
			Change{"rma/notify.go", "\tif err := t.store(ctx, op, at, src); err != nil {\n\t\treturn err\n\t}\n\treturn t.tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Notify, At: uint64(slot)})\n",
				"\tif err := t.tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Notify, At: uint64(slot)}); err != nil {\n\t\treturn err\n\t}\n\treturn t.store(ctx, op, at, src)\n"}),
		edit("unlock", "an unlock grants the lock to a waiting origin", "TestLocks", "",
			Change{target, "return append(t.Look(), answers...), nil", "return answers, nil"}),
		edit("forget", "a dead origin is removed from the waiters", "TestDeathOfOneWhoWaits", "",
			Change{target, "\t\t\tt.asked = append(t.asked[:i], t.asked[i+1:]...)\n\t\t\treturn\n", "\t\t\treturn\n"}),
		edit("given-up", "an Unlock by a waiting origin ends its wait", "TestLocks", "",
			Change{target, "\tcase o == robustlock.Waiting:\n\t\ta.lock.Withdraw()\n", ""}),
		edit("posted", "a wait of Start or WaitPosted reports a revocation before deaths", "TestPostedWhen", "rma",
			Change{"rma/epoch.go", "case over && len(dead) == 0:", "case over:"}),
	}
}
