package edits

// partings are the edits of processes that leave while members of another world still complete an operation with them.
func partings() []Edit {
	edit := func(name, rule, file, old, text, test string) Edit {
		return Edit{Name: "parting-" + name, Rule: rule, Changes: []Change{{File: file, Old: old, New: text}}, Tests: []Test{{Run: test}}}
	}
	return []Edit{
		edit("goes-on", "a collective goes on in which all that have left took part", "internal/engine/parting.go",
			"return c.gone.parted > 0 && c.gone.parted == c.gone.deaths", "return c.gone.parted > 0 && c.gone.parted != c.gone.deaths", "TestCollectivesGoOnAfterADeparture"),
		edit("later", "a collective fails in which a member that has left did not take part", "internal/engine/parting.go",
			"int32(c.gone.lastOfAll-number) >= 0", "c.gone.lastOfAll > 0", "TestCollectivesGoOnAfterADeparture"),
		edit("told", "a process tells its last collectives before it leaves", "internal/engine/ending.go", "\te.tellLasts()\n", "", "TestCollectivesGoOnAfterADeparture"),
		edit("receives", "a departure ends receives that name the process alone", "internal/match/life.go",
			"\t\tend(s, &s.sources.At(src).posted, ended)\n", "\t\tm.endAll(s, ended)\n", "TestPartEndsReceivesFromOneSource"),
	}
}
