package edits

// adaptiveDetector returns the bugs of fd/adaptive: mistakes of published detectors, and of the
// systems that contain a detector.
func adaptiveDetector() []Edit {
	return []Edit{
		{
			Name: "adaptive-loss", Rule: "the estimate of loss stays above zero after 100 beats without a loss",
			Changes: []Change{{File: "fd/adaptive/loss.go", Old: "p1 = (lost + 1) / (sent + 2)", New: "p1 = lost / max(sent, 1)"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "adaptive-bursts", Rule: "a beat after a lost beat is likelier to be lost",
			Changes: []Change{{File: "fd/adaptive/loss.go", Old: "max(p1, (together+4*p1)/(lost+4))", New: "max(p1, 0*together)"}},
			Tests:   []Test{{Run: "TestBurstsAreSeen"}},
		},
		{
			Name: "adaptive-lateness", Rule: "messages that a process reads after it was stopped are no samples (B17)",
			Changes: []Change{{File: "fd/adaptive/observer.go", Old: "\to.noticeLateness(ev.At, p.Period())\n\tp.deaf = 0\n\tif p.Heard(", New: "\tp.deaf = 0\n\tif p.Heard("}},
			Tests:   []Test{{Run: "TestStoppedObserverKeepsItsPeriod"}},
		},
		{
			Name: "adaptive-adjust-once", Rule: "an Adjust may be lost: the observer repeats the Adjust while beats carry an older epoch",
			Changes: []Change{{File: "fd/adaptive/observer.go", Old: "\t\tp.epoch++\n\t}\n\tif ev.Beat.Epoch != p.epoch {\n\t\to.adjust(ev.Peer, ev.At)\n\t}\n", New: "\t\tp.epoch++\n\t\to.adjust(ev.Peer, ev.At)\n\t}\n"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "adaptive-drift", Rule: "the drift of two clocks is no delay",
			Changes: []Change{{File: "fd/adaptive/delay.go", Old: "return float64(d.sum)/float64(d.count) + d.errorMean", New: "return float64(d.sum) / float64(d.count)"}},
			Tests:   []Test{{Run: "TestDriftIsNoDelay"}},
		},
		{
			Name: "adaptive-echo", Rule: "an answer is a sign of life of the time at which its probe was sent, plus the usual round trip",
			Changes: []Change{{File: "fd/adaptive/watch.go", Old: "at.Add(-max(0, rtt-w.rtt))", New: "at"}},
			Tests:   []Test{{Run: "TestAnswerOfLongAgo"}},
		},
		{
			Name: "adaptive-congestion", Rule: "late beats do not change the detection time",
			Changes: []Change{{File: "fd/adaptive/watch.go", Old: "\t\tif w.rtt > 0 {\n", New: "\t\tif w.rtt < 0 {\n"}},
			Tests:   []Test{{Run: "TestCongestionKeepsDetectionTime"}},
		},
		{
			Name: "adaptive-promised", Rule: "a longer period counts from the beat that is already promised",
			Changes: []Change{{File: "fd/adaptive/emitter.go", Old: "s.next = min(s.next, max(clock(ev.At), s.last.Add(a.Period)))", New: "s.next = s.last.Add(a.Period)"}},
			Tests:   []Test{{Run: "TestPromisedBeatComes"}},
		},
		{
			Name: "adaptive-bisect", Rule: "the mean time between mistakes does not fall everywhere: sample points come before bisection",
			Changes: []Change{{File: "fd/adaptive/configure.go", Old: "\tbelow, above := m.etaMax, m.etaMax\n", New: "\treturn m.bisect(least, m.etaMax, enough), true\n\tbelow, above := m.etaMax, m.etaMax\n"}},
			Tests:   []Test{{Run: "TestConfigureIsLongest"}},
		},
	}
}
