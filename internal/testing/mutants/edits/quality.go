package edits

// ringWithQuality returns bugs of a detector ring that sends the fewest heartbeats that meet a
// required quality of detection (fd.Config.Adaptive).
func ringWithQuality() []Edit {
	const scripts = "TestScripts/quality"
	return []Edit{
		{
			Name: "quality-obeyed", Rule: "the emitter beats as its observer requests",
			Changes: []Change{{fdRhythm, "\t\td.rhythm.requested = mono.Duration(", "\t\t_ = mono.Duration("}},
			Tests:   []Test{{Run: "TestQualityHolds"}, {Run: scripts}},
		},
		{
			Name: "quality-overtaken", Rule: "a process ignores a request that a later one has overtaken",
			Changes: []Change{{fdRhythm, "if int16(a.Epoch-d.rhythm.request) >= 0 {", "if true {"}},
			Tests:   []Test{{Run: "TestRequestThatWasOvertaken"}},
		},
		{
			Name: "quality-next-observer", Rule: "the requests of an observer end when another observer takes its place",
			Changes: []Change{{fdRhythm, "\t\td.rhythm.request, d.rhythm.requested = 0, d.cfg.Period\n", ""}},
			Tests:   []Test{{Run: "TestNextObserverIsNotKnown"}},
		},
		{
			Name: "quality-missed", Rule: "a late process does not send the beats that it missed",
			Changes: []Change{{fdRhythm, "missed := d.now.Sub(d.nextBeat) / r.period", "missed := mono.Duration(0)"}},
			Tests:   []Test{{Run: "TestRandomEvents"}},
		},
		{
			Name: "quality-promised", Rule: "a longer period counts from the beat that is already promised",
			Changes: []Change{{fdRhythm, "d.nextBeat = min(d.nextBeat, max(", "d.nextBeat = max(d.nextBeat, max("}},
			Tests:   []Test{{Run: scripts}},
		},
		{
			Name: "quality-said-again", Rule: "a request that beats do not confirm is repeated",
			Changes: []Change{{fdObserve, "\t\tif told.Epoch != o.request {\n", "\t\tif false {\n"}},
			Tests:   []Test{{Run: scripts}},
		},
		{
			Name: "quality-fresh", Rule: "measurements of the path from one emitter do not apply to the next emitter",
			Changes: []Change{{fdObserve, "\t*o = observation{of: d.emitter, heard: o.heard[:0], mercy: d.silence.at, looked: true, late: o.late, wasLate: o.wasLate}\n\to.watch.Start(", "\to.of, o.heard, o.mercy = d.emitter, o.heard[:0], d.silence.at\n\tvar w adaptive.Watch\n\tw.Start("}},
			Tests:   []Test{{Run: scripts}},
		},
		{
			Name: "quality-freshness", Rule: "a suspicion comes at the freshness point",
			Changes: []Change{{fdObserve, "d.silence.at = max(mono.Time(o.watch.Freshness()), o.mercy)", "d.silence.at = max(d.silence.since.Add(2*d.cfg.Timeout), o.mercy)"}},
			Tests:   []Test{{Run: "TestQualityHolds"}},
		},
		{
			Name: "quality-mercy", Rule: "a new emitter has a longer time limit only until its first message",
			Changes: []Change{{fdObserve, "\t\to.mercy = 0\n", ""}},
			Tests:   []Test{{Run: scripts}},
		},
		{
			Name: "quality-B17-sample", Rule: "messages that waited while this process was late do not measure the path",
			Changes: []Change{{fdObserve, "d.weigh(told, o.late || o.wasLate)", "d.weigh(told, false)"}},
			Tests:   []Test{{Run: "TestOwnStopIsNoDelay"}},
		},
		{
			Name: "quality-B17-silence", Rule: "lateness of this process is no silence of the emitter",
			Changes: []Change{{fdSuspect, "\t\to.mercy = d.silence.at\n", ""}},
			Tests:   []Test{{Run: "TestLateTickSuspectsNobody"}},
		},
		{
			Name: "quality-in-time", Rule: "a message sets no deadline in the past, for which this process would count as late",
			Changes: []Change{{fdObserve, "\td.silence.ticked = false ", "\t"}},
			Tests:   []Test{{Run: "TestAnswerMakesNobodyLate"}},
		},
		{
			Name: "quality-bounded", Rule: "the number of messages stored until the next Tick is bounded",
			Changes: []Change{{fdObserve, "if len(o.heard) == heardMax {", "if false {"}},
			Tests:   []Test{{Run: "TestHeardIsBounded"}},
		},
	}
}
