package edits

// windows are the edits of one-sided windows.
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
		edit("agree", "a window is made at all or at none", "rma/create.go", "case err == nil && flag&1 != 0:", "case err == nil && k.mine == nil:", "TestSpecW1OneOutcome"),
		inWindow("neighbours", "an atomic change of a small element leaves its neighbours", "internal/window/atomic.go",
			"w&^(e.mask()<<e.shift)|uint32(v)<<e.shift", "uint32(v)<<e.shift", "TestElements"),
		edit("broken", "a lock whose holder died is got in mode Mend alone", "rma/lock.go", "out := g.lock.Lock(hold.Mode(m))", "out := g.lock.Lock(max(hold.Mode(m), hold.Mend))", "TestSpecW11W23"),
		edit("epochs", "who waits for the posted waits for all of them", "rma/epoch.go", "\t\t\treturn nil, false\n", "\t\t\treturn nil, true\n", "TestPostStart"),
		edit("fresh", "a window that is made anew inherits no lock", "rma/create.go", "if p.says, k.mine = k.newRegion(window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk), true); k.mine != nil {\n\t\treturn mine\n\t}",
			"if p.says, k.mine = k.newRegion(window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk), true); k.mine != nil {\n\t\treturn mine\n\t}\n\tif old := k.spec.old; old != nil {\n\t\tcopy(p.says.Bytes(), old.pieces[old.me].says.Bytes())\n\t}", "TestSpecW20"),
	}
}
