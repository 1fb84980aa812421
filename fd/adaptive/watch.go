package adaptive

const (
	// firstLook is the number of beats after which the network counts as known.
	firstLook = 100
	// lookEach is the number of further beats after which the period is considered again.
	lookEach = 16
	// patience is the number of checks in a row that have to favour a longer period.
	patience = 3
)

// At first a network is taken for one that loses 1 % and has a deviation of 140 ms.
const (
	lossFirst     = 0.01
	varianceFirst = 0.02
)

// A Watch holds the measurements of one observed process: when to suspect the process, and which
// period to request. A Watch has no pointers, so that thousands of them are no load for the garbage
// collector. The zero value needs Start.
type Watch struct {
	delays delays
	losses losses
	qos    QoS
	limits Limits

	nominal Time     // of the latest beat, on its sender's clock
	period  Duration // in the latest beat
	alive   Time     // the latest sign of life that is not a beat, or the start
	rtt     Duration // there and back; follows a longer way sooner than a shorter one
	wanted  Duration
	better  Duration // the least of the longer periods that were favoured
	until   uint8    // beats until the next check
	agreed  uint8    // number of checks in a row that favoured a longer period
	beaten  bool     // a beat has come
	known   bool     // enough beats have come to know the network
}

// Start begins to watch at a moment: the first beat is expected at once. The QoS and the
// Limits must have passed their Check.
func (w *Watch) Start(at Time, q QoS, l Limits) {
	q = q.WithDefaults()
	*w = Watch{qos: q, limits: l.WithDefaults(q), alive: at, until: firstLook}
	w.wanted = w.longest()
	w.period = w.wanted
}

// Heard evaluates a beat received at a moment, and reports whether the requested period has
// changed. A late beat may have waited here, because this process was stopped: such a beat is a
// sign of life, and its delay, except that of the very first beat, is no sample of the network
// (B17). A beat that was received before, or that is older than 64 others, changes nothing.
func (w *Watch) Heard(at Time, b Beat, late bool) bool {
	if !w.losses.mark(b.Seq) {
		return false
	}
	if !w.beaten || w.losses.highest == b.Seq {
		w.nominal, w.period = b.Nominal, b.Period
	}
	if !late || !w.beaten {
		w.delays.sample(at.Sub(b.Nominal))
	}
	w.beaten = true
	w.until--
	if w.until > 0 {
		return false
	}
	w.until, w.known = lookEach, true
	return w.look()
}

// Answered evaluates the answer to a probe, and reports whether the requested period has changed.
// An RTT of 0 or less is unknown. The answer is a sign of life of the moment when the probe was
// sent, plus the usual round trip. The answer measures the path, unless it is late as a beat may
// be.
func (w *Watch) Answered(at Time, rtt Duration, late bool) bool {
	change := !late && rtt > 0 && w.measure(rtt)
	w.alive = max(w.alive, at.Add(-max(0, rtt-w.rtt)))
	return change
}

// measure evaluates a round trip. A longer round trip gets more weight than a shorter one. A round
// trip longer than the time to detect is ignored: that is an old answer, not a usable path.
func (w *Watch) measure(rtt Duration) bool {
	switch {
	case rtt > w.qos.Detection:
		return false
	case w.rtt == 0:
		w.rtt = rtt
	case rtt > w.rtt:
		w.rtt += (rtt - w.rtt) / 4
	default:
		w.rtt -= (w.rtt - rtt) / 8
		return false
	}
	return w.shorten(w.longest())
}

// longest returns the longest period that suffices on the measured network.
func (w *Watch) longest() Duration {
	s, _ := Configure(w.network(), w.qos, w.limits)
	return s.Period
}

// look reconsiders the period. A longer period only saves messages, and has to be favoured by three
// checks in a row, of which the least counts.
func (w *Watch) look() bool {
	longest := w.longest()
	if w.shorten(longest) {
		return true
	}
	if longest < w.wanted+w.wanted/10 {
		w.agreed = 0
		return false
	}
	if w.agreed == 0 || longest < w.better {
		w.better = longest
	}
	w.agreed++
	if w.agreed < patience {
		return false
	}
	w.wanted, w.agreed = w.better, 0
	return true
}

// shorten adopts a period shorter by a tenth at once: the present period no longer meets the
// quality. Smaller differences are the noise of estimates.
func (w *Watch) shorten(longest Duration) bool {
	if longest > w.wanted-w.wanted/10 {
		return false
	}
	w.wanted, w.agreed = longest, 0
	return true
}

// network returns the measured network, or an assumption before enough is known.
func (w *Watch) network() Network {
	n := Network{Loss: lossFirst, LossAgain: lossFirst, Variance: varianceFirst, RTT: w.rtt}
	if w.known {
		n.Loss, n.LossAgain = w.losses.estimate()
		n.Variance = w.delays.variance()
	}
	return n
}

// Network returns the measurements of the path to this process; before 100 beats, an assumption.
func (w *Watch) Network() Network { return w.network() }

// Freshness returns the moment from which the process is suspected, unless a fresher beat or
// another sign of life comes: T after the expected arrival of the latest beat. With the period η in
// this beat, this is the expected arrival of the next beat and α = T-η: so the time to detect holds
// for each period in force, also during a change.
//
// Where the mean delay of the last beats is more than half a round trip above the least one,
// the time to detect is kept and not the mean:
//
//	The window begins, or the network is congested for a while: beats take a second
//	longer, and it is by so much that a crash would be found later than promised.
func (w *Watch) Freshness() Time {
	last := w.alive
	if w.beaten {
		arrival := w.delays.expected(w.nominal)
		if w.rtt > 0 {
			arrival = min(arrival, w.delays.quickest(w.nominal).Add(w.rtt/2))
		}
		last = max(last, arrival)
	}
	return last.Add(w.TimeToSuspect())
}

// TimeToSuspect returns T for the measured round trip: see the function of that name.
func (w *Watch) TimeToSuspect() Duration {
	return TimeToSuspect(Network{RTT: w.rtt}, w.qos, w.limits)
}

// Expected returns when the next beat should come.
func (w *Watch) Expected() Time {
	if !w.beaten {
		return w.alive
	}
	return w.delays.expected(w.nominal).Add(w.period)
}

// Wanted returns the period to request from the process.
func (w *Watch) Wanted() Duration { return w.wanted }

// Period returns the period in its latest beat; before the first beat, Wanted.
func (w *Watch) Period() Duration { return w.period }

// Setting returns the period in force and the corresponding shift.
func (w *Watch) Setting() Setting {
	return Setting{Period: w.period, Shift: w.TimeToSuspect() - w.period}
}

// Quality returns the quality of the period in force on the measured network, and whether any
// period attains the requested quality there. The period in force may be up to a tenth too long,
// because a smaller change of the period is not adopted at once.
func (w *Watch) Quality() Quality {
	m := newModel(w.network(), w.qos, w.limits)
	q := m.quality(w.period.Seconds())
	_, q.Attainable = m.longest(w.limits.PeriodMin.Seconds(), w.qos.Recurrence.Seconds())
	return q
}
