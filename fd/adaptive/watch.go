package adaptive

const (
	// firstLook is after how many beats the network is believed to be known.
	firstLook = 100
	// lookEach is after how many more the period is considered again.
	lookEach = 16
	// patience is how many times in a row a longer period has to look good.
	patience = 3
)

// At first a network is taken for one that loses 1 % and has a deviation of 140 ms.
const (
	lossFirst     = 0.01
	varianceFirst = 0.02
)

// A Watch is what is known of one observed process by its beats: when to suspect it, and
// with which period it should send. It has no pointers, so that thousands of them are
// nothing to the garbage collector. Its zero value watches nobody: Start.
type Watch struct {
	delays delays
	losses losses
	qos    QoS
	limits Limits

	nominal Time     // of the latest beat, on its sender's clock
	period  Duration // that the latest beat told
	alive   Time     // the latest sign of life that is not a beat, or the start
	rtt     Duration // there and back; follows a longer way sooner than a shorter one
	wanted  Duration
	better  Duration // the least of the longer periods that looked good
	until   uint8    // beats until the next look
	agreed  uint8    // how many looks in a row wanted a longer period
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

// Heard takes a beat that came at a moment, and says whether the period that is wanted has
// changed. A late beat is one that may have waited here, because this process was stopped: it is a
// sign of life, and its delay says nothing of the network (B17). A beat that was heard
// before, or that is older than 64 others, changes nothing.
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

// Answered takes the answer to a probe, and says whether the period that is wanted has
// changed. An RTT of 0 or less is unknown. The answer is a sign of life: of the moment
// when the probe was sent, for all that is sure, and what the way usually takes later. It
// measures the way, unless it is late as a beat may be.
func (w *Watch) Answered(at Time, rtt Duration, late bool) bool {
	change := !late && rtt > 0 && w.measure(rtt)
	w.alive = max(w.alive, at.Add(-max(0, rtt-w.rtt)))
	return change
}

// measure takes a round trip. A longer way counts sooner than a shorter one. What took
// longer than the time to detect is no way that could be of use, but an old answer.
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

// longest is the longest period that will do on the network as it is known.
func (w *Watch) longest() Duration {
	s, _ := Configure(w.network(), w.qos, w.limits)
	return s.Period
}

// look considers the period. A longer one only saves messages, and has to look good three
// times in a row, of which the least counts.
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

// shorten takes a shorter period at once, if it is shorter by a tenth: what was promised
// does not hold any more. Less than that is the noise of estimates.
func (w *Watch) shorten(longest Duration) bool {
	if longest > w.wanted-w.wanted/10 {
		return false
	}
	w.wanted, w.agreed = longest, 0
	return true
}

// network is what is known of it, or what it is taken for before enough is known.
func (w *Watch) network() Network {
	n := Network{Loss: lossFirst, LossAgain: lossFirst, Variance: varianceFirst, RTT: w.rtt}
	if w.known {
		n.Loss, n.LossAgain = w.losses.estimate()
		n.Variance = w.delays.variance()
	}
	return n
}

// Network returns what is known of the way here. Before 100 beats it is an assumption.
func (w *Watch) Network() Network { return w.network() }

// Freshness returns the moment from which the process is suspected, unless a fresher beat
// or another sign of life comes: T after the latest beat was to be expected. With the
// period η that this beat told, this is the expected arrival of the next one and α = T-η:
// so the time to detect holds whatever period is in force, also while it changes.
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

// TimeToSuspect returns T, by what is known of the network: see the function of that name.
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

// Wanted returns the period that the process should have.
func (w *Watch) Wanted() Duration { return w.wanted }

// Period returns the period that its latest beat told; before the first beat, Wanted.
func (w *Watch) Period() Duration { return w.period }

// Setting returns the period in force and the shift that goes with it.
func (w *Watch) Setting() Setting {
	return Setting{Period: w.period, Shift: w.TimeToSuspect() - w.period}
}

// Quality returns what is promised of the period in force on the network as it is known, and
// whether there is a period with which what was asked for is attainable there. The one in
// force may be up to a tenth too long: see look.
func (w *Watch) Quality() Quality {
	m := newModel(w.network(), w.qos, w.limits)
	q := m.quality(w.period.Seconds())
	_, q.Attainable = m.longest(w.limits.PeriodMin.Seconds(), w.qos.Recurrence.Seconds())
	return q
}
