package edits

const (
	holdRules = "internal/protocol/robustlock/rules.go"
	holdLock  = "internal/protocol/robustlock/lock.go"
	holdWorld = "internal/protocol/robustlock/world_test.go"
)

// holdBugs returns bugs of the lock that survives the death of its holder. Worlds of two or
// three processes find each.
func holdBugs() []Edit {
	edit := func(name, rule string, changes ...Change) Edit {
		return Edit{Name: "hold-" + name, Rule: rule, Changes: changes, Tests: []Test{{Run: "TestEveryStateSettles"}}}
	}
	return []Edit{
		edit("accept", "a process that was handed the lock takes the lock by a swap",
			Change{holdRules, "func (l *Lock) grab() {\n\tl.phase = look\n", "func (l *Lock) grab() {\n\tl.phase = look\n\tif l.seen == l.name|handed {\n\t\tl.memory.Release(l.name)\n\t\tl.phase = unclaim\n\t\treturn\n\t}\n"}),
		edit("look", "a reader that waited reads the word again after it has published its claim",
			Change{holdRules, "\t\tm.SetClaimFenced(Sharing)\n", "\t\tm.SetClaimFenced(Sharing)\n\t\tif l.back == watch {\n\t\t\tl.phase = sharing\n\t\t}\n"}),
		edit("scan", "a writer waits for the readers",
			Change{holdRules, "l.phase, l.cursor = scan, 0\n", "l.phase, l.cursor = holding, 0\n"}),
		edit("dead-reader", "no writer waits for a dead reader",
			Change{holdRules, "l.memory.Claim(o) == Sharing && !l.members.Dead(o)", "l.memory.Claim(o) == Sharing"}),
		edit("dead-successor", "a lock that was handed to a process which died is free",
			Change{holdRules, "\t\tl.phase = absence\n\t\tif l.isDead(h) {", "\t\tl.phase = absence\n\t\tif l.isDead(h) {\n\t\t\treturn l.wait(look)\n\t\t}\n\t\tif false {"}),
		edit("absent-successor", "a lock that was handed to a process which has given up is free",
			Change{holdRules, "m.Claim(o) != Claiming {\n\t\t\tl.phase = grab", "m.Claim(o) != Claiming && false {\n\t\t\tl.phase = grab"}),
		edit("broken", "only a process in mode Mend takes the lock of a dead holder",
			Change{holdRules, "case l.mode == Mend:", "case true:"}),
		edit("return", "a broken lock that is returned unused in mode Mend is broken again",
			Change{holdLock, "if l.broken != 0 {", "if l.broken != 0 && false {"}),
		edit("fence", "the claim of a reader is visible before the reader checks the word",
			Change{holdRules, "\t\tm.SetClaimFenced(Sharing)\n", "\t\tm.SetClaim(Sharing)\n"},
			Change{holdWorld, "const enterFences = true", "const enterFences = false"}),
	}
}
