package edits

// clusterDetectorBugs returns bugs of the detector, and of its host, that whole clusters find.
func clusterDetectorBugs() []Edit {
	return []Edit{
		{
			Name: "B5-cluster", Rule: "a death that other processes report rewires the ring",
			Changes: []Change{rewireSeldom},
			Hunt:    Hunt{Arena: "ring", Breaks: []string{"I2", "I5", "I6", "assert"}},
		},
		{
			Name: "A24", Rule: "a process that was declared dead returns no more results",
			// A process that was declared dead continues.
			Changes: []Change{{controlControl, "\tc.fenced = true\n\tc.out = append(c.out[:0], Fenced{Why: why})\n", ""}},
			Hunt:    Hunt{Arena: "wild", Breaks: []string{"I1", "I2", "I6"}},
		},
		{
			Name: "B20-cluster", Rule: "a process that learns of its own death stops",
			Changes: surviveFence(),
			Hunt:    Hunt{Arena: "wild", Breaks: []string{"I1", "I2", "I6", "R31"}},
		},
	}
}

var (
	// rewireSeldom: only deaths that this process finds by silence rewire the ring. A death that
	// other processes report does not, as in T5 of the paper, nor does exact evidence, or a
	// departure. (The call of mustAgree is left out, too.)
	rewireSeldom = Change{fdDetector, "\t\td.rewire()\n\t\td.mustAgree()\n", "\t\tif evidence == BySilence {\n\t\t\td.rewire()\n\t\t}\n"}
	// compareNothing: processes do not compare digests, so the items that a cut flood lost stay
	// lost.
	compareNothing = Change{fdDetector, "\td.follow(with, d.flood.Step(flood.Compare{With: with, Digest: digest}), ByNotice)\n", ""}
)

// surviveFence: a process that learns of its own death continues.
func surviveFence() []Change {
	return []Change{
		{fdDetector, "\tcase dead.Has(d.cfg.Me):\n", "\tcase false:\n"},
		{fdDetector, "\tdefault:\n\t\tfor rank := range dead.All() {\n", "\tdefault:\n\t\tdead.Remove(d.cfg.Me)\n\t\tfor rank := range dead.All() {\n"},
		{fdDetector, "\td.fenced = true\n\td.posts = d.posts[:0]\n\td.checks = d.checks[:0]\n\td.out = append(d.out[:0], Fenced{By: by})\n", ""},
	}
}

// detectorBugs returns bugs that are hunted in worlds of detectors alone (the last one under a
// permanent partition), whose runs are short.
func detectorBugs() []Edit {
	return []Edit{
		{
			Name: "fd-A2", Rule: "the detector drops messages of dead processes",
			Changes: []Change{{fdDetector, "\tif d.dead.Has(from) {\n", "\tif false {\n"}},
			Hunt:    detectors("I6", "I5"),
		},
		{
			Name: "B1", Rule: "only the emitter's messages count for its timing",
			Changes: []Change{{fdSuspect, "\tif rank != d.emitter {\n", "\tif false {\n"}},
			Hunt:    detectors("I5"),
		},
		{
			Name: "B2", Rule: "a process ignores a stale NEWOBSERVER, and deaths correct the ring",
			// A process obeys a NEWOBSERVER however stale, and only the next NEWOBSERVER
			// corrects its observer, as in T4 of the paper.
			Changes: []Change{
				{fdRing, "\td.aim(gone)\n", "\tif d.claim == d.cfg.Me {\n\t\td.aim(gone)\n\t}\n"},
				{fdRing, "\tif ahead(d.cfg.N, d.cfg.Me, from) < ahead(d.cfg.N, d.cfg.Me, d.observer) {\n", "\tif false {\n"},
			},
			Hunt: detectors("I5", "I6"),
		},
		{
			Name: "B3-fd", Rule: "a cut flood is repaired, and heartbeats carry a digest of the dead",
			Changes: []Change{mendNothing, compareNothing},
			Hunt:    detectors("I5"),
		},
		{
			Name: "B3-fd-relay", Rule: "a process relays a new death notice",
			Changes: []Change{relayNothing, compareNothing},
			Hunt:    detectors("I5"),
		},
		{
			Name: "B5", Rule: "a death that other processes report rewires the ring",
			Changes: []Change{rewireSeldom},
			Hunt:    detectors("I2", "I5", "assert"),
		},
		{
			Name: "B6", Rule: "a process accepts all deaths of a notice (RDAEMON: one)",
			// A message adds only one of its items, and a sender that lacks items gets no
			// answer.
			Changes: []Change{compareNothing, {floodFlood, "\tgrew, lacking := f.merge(theirs), !f.have.SubsetOf(theirs)\n", `	theirs.Subtract(f.have)
	if first := theirs.Next(0); first >= 0 {
		theirs = rankset.Of(first)
	}
	grew, lacking := f.merge(theirs), false
`}},
			Hunt: detectors("I5"),
		},
		{
			Name: "B10", Rule: "a suspect is probed before its death is declared",
			Changes: []Change{{fdSuspect, "\td.out = append(d.out, Suspect{Rank: rank, Silent: quiet})\n\td.open(check{rank: rank, stage: suspected, quiet: quiet}, d.cfg.Confirm)\n", "\td.learn(rankset.Of(rank), BySilence)\n"}},
			Hunt:    detectors("I6"),
		},
		{
			Name: "B12", Rule: "a death changes the destination of a process's heartbeats",
			// Only NEWOBSERVER changes the observer of this process.
			Changes: []Change{{fdRing, "\td.aim(gone)\n", ""}},
			Hunt:    detectors("I5", "I6"),
		},
		{
			Name: "B16", Rule: "a process that has left is not observed",
			Changes: []Change{{fdDetector, "\tgone.Union(d.left)\n\treturn gone\n", "\treturn gone\n"}},
			Hunt:    detectors("I6", "I5"),
		},
		{
			Name: "B17", Rule: "a process's own lateness is not the silence of another process",
			Changes: []Change{{fdSuspect, "\tif harmless {\n", "\tif harmless || true {\n"}},
			Hunt:    detectors("I6"),
		},
		{
			Name: "B19", Rule: "a broken connection is only a suspicion",
			Changes: []Change{{fdSuspect, "\td.suspect(rank, quiet)\n", "\t_ = quiet\n\td.learn(rankset.Of(rank), BySilence)\n"}},
			Hunt:    detectors("I6"),
		},
		{
			Name: "B20", Rule: "a process that learns of its own death stops",
			Changes: surviveFence(),
			Hunt:    detectors("I6"),
		},
		{
			Name: "F6", Rule: "a dead process that still sends is notified of its death",
			Changes: []Change{{fdDetector, "\tif d.told.Add(rank) {\n", "\tif d.told.Add(rank) && false {\n"}},
			Hunt:    detectors("I6"),
		},
		{
			Name: "B18", Rule: "the smaller side of a partition stops",
			// The smaller side continues, also if Config requires the majority.
			Changes: []Change{{fdDetector, "\tif d.cfg.Partition != Majority || dead.SubsetOf(d.ended) {\n", "\tif d.cfg.Partition != Majority || dead.SubsetOf(d.ended) || true {\n"}},
			Hunt:    Hunt{Arena: "islands", Breaks: []string{"I7"}},
		},
	}
}
