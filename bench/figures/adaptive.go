package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// The setting of the simulations in Chen, Toueg and Aguilera (section 7): one beat a
// second, exponential delays.
const (
	chenLoss = 0.01
	chenMean = 0.02
)

// chenFigure is Figure 12 of Chen, Toueg and Aguilera: the mean time between mistakes against
// the time to detect, of their detectors and of a plain timeout with the same period.
func chenFigure(r run) []*figure {
	f := &figure{id: "chen12", title: "Chen et al., Fig. 12: mean time between mistakes, a beat each second", xLabel: "bound of the time to detect [s]", yLabel: "seconds", logY: true}
	exact := f.add("theorem 5", true)
	nfdS, nfdE := f.add("NFD-S, simulated", false), f.add("the rule of fd/adaptive (NFD-E), simulated", false)
	long, short := f.add("timeout, beats later than 0.16 s dropped", true), f.add("timeout, beats later than 0.08 s dropped", true)
	beats := 20_000_000
	if r.quick {
		beats = 1_000_000
	}
	network := adaptive.Delays{Loss: chenLoss, Mean: seconds64(chenMean), Beyond: func(x float64) float64 { return math.Exp(-x / chenMean) }}
	worst, least := 0.0, 1.0
	for step := range 11 {
		detect := 1 + 0.25*float64(step)
		want := adaptive.Predict(network, adaptive.Setting{Period: adaptive.Second, Shift: seconds64(detect - 1 - chenMean)})
		expected := want.Recurrence.Seconds()
		exact.at(detect, expected)
		if sent := float64(beats) / expected; sent < 20 {
			continue // too few mistakes for a result
		}
		seed := rand.New(rand.NewPCG(r.seedOf(uint64(step)), 12))
		simulated := recurrenceNFDS(seed, beats, detect-1)
		nfdS.at(detect, simulated)
		if mistakes := float64(beats) / expected; mistakes > 5000 {
			worst = max(worst, math.Abs(simulated/expected-1))
		}
		ours := recurrenceRule(seed, beats/4, detect)
		nfdE.at(detect, ours)
		if detect > 1 {
			least = min(least, ours/simulated)
		}
		long.at(detect, recurrenceTimeout(seed, beats/4, detect, 0.16))
		short.at(detect, recurrenceTimeout(seed, beats/4, detect, 0.08))
	}
	f.claim(worst < 0.03, "E(T_MR), NFD-S simulated against theorem 5", "they agree", "within %.1f %% where 5,000 mistakes or more were seen", 100*worst)
	f.claim(least > 0.5, "NFD-E against NFD-S", "practically the same with 32 beats remembered", "at worst %.2f of its mean time between mistakes", least)
	return []*figure{f}
}

func seconds64(s float64) adaptive.Duration {
	return adaptive.Duration(s * float64(adaptive.Second))
}

// arrival draws when a beat that was sent at a moment comes; never, if it is lost.
func arrival(rng *rand.Rand, sent float64) float64 {
	if rng.Float64() < chenLoss {
		return math.Inf(1)
	}
	return sent + rng.ExpFloat64()*chenMean
}

// recurrenceNFDS plays the detector that knows when beats are sent: at i+delta it begins to
// suspect if none from i on has come.
func recurrenceNFDS(rng *rand.Rand, beats int, delta float64) float64 {
	var coming [4]float64
	for i := range coming {
		coming[i] = arrival(rng, float64(i))
	}
	mistakes, suspecting := 0, false
	for i := range beats {
		point := float64(i) + delta
		fresh := min(coming[0], coming[1], coming[2], coming[3])
		if fresh > point && !suspecting {
			mistakes++
		}
		suspecting = fresh > point && fresh > point+1
		copy(coming[:], coming[1:])
		coming[3] = arrival(rng, float64(i+4))
	}
	return float64(beats) / float64(mistakes)
}

// recurrenceRule plays the shipped rule with a period of 1 s and a given T.
func recurrenceRule(rng *rand.Rand, beats int, detect float64) float64 {
	var w adaptive.Watch
	w.Start(0, adaptive.QoS{Detection: seconds64(detect)}, adaptive.Limits{Confirm: adaptive.Unconfirmed})
	mistakes := 0
	for i := range beats {
		came := arrival(rng, float64(i))
		if math.IsInf(came, 1) {
			continue
		}
		at := adaptive.Time(seconds64(came))
		if i > 100 && at > w.Freshness() {
			mistakes++
		}
		w.Heard(at, adaptive.Beat{Seq: uint32(i), Nominal: adaptive.Time(i) * adaptive.Time(adaptive.Second), Period: adaptive.Second}, false)
	}
	return float64(beats) / float64(mistakes)
}

// recurrenceTimeout plays a detector that waits for a time after each beat, and drops those that
// took longer than cutoff, so that its time to detect has a bound.
func recurrenceTimeout(rng *rand.Rand, beats int, detect, cutoff float64) float64 {
	wait, last, mistakes := detect-cutoff, 0.0, 0
	for i := range beats {
		came := arrival(rng, float64(i))
		if came-float64(i) > cutoff {
			continue
		}
		if came-last > wait {
			mistakes++
		}
		last = came
	}
	return float64(beats) / float64(max(mistakes, 1))
}

// dietFigure is Figure 4 of Bouteiller and Desprez: memory and accuracy with the number of observed
// processes, and the traffic of the observation. One hour, after a first one; up to 256 processes
// are on the observer's cluster, the others far away.
func dietFigure(r run) []*figure {
	memory := &figure{id: "diet4a", title: "Bouteiller and Desprez, Fig. 4: memory of an observer", xLabel: "observed processes", yLabel: "bytes", logX: true, logY: true}
	accuracy := &figure{id: "diet4b", title: "Bouteiller and Desprez, Fig. 4: accuracy", xLabel: "observed processes", yLabel: "share of an hour in which nobody alive was suspected", logX: true}
	bytes, share := memory.add("measured", true), accuracy.add("simulated", true)
	largest := 1024
	if r.quick {
		largest = 128
	}
	var last hour
	for n := 1; n <= largest; n *= 2 {
		last = observeForAnHour(n, r.seedOf(uint64(n)))
		bytes.at(float64(n), last.bytes)
		share.at(float64(n), last.accuracy)
	}
	memory.stated("708 bytes each", []float64{1, 1024}, []float64{708, 708 * 1024})
	accuracy.stated("accuracy", []float64{1, 256, 512, 1024}, []float64{1, 1, 0.9997, 1})
	each := last.bytes / float64(largest)
	memory.claim(each <= 354, "memory for each of the observed, largest number: the rules alone", "708 bytes of a process, in steps of 4 KB", "%.0f bytes; a client of package gridrpc takes about 650 bytes with sockets, keys and names, see gridrpc/bench/README.md", each)
	accuracy.claim(last.accuracy >= 0.9997, "accuracy, largest number", "1 (0.9997 with 512)", "%.6f, %d suspicions", last.accuracy, last.mistakes)
	n := adaptive.Network{Loss: 0.01, Variance: 0.01}
	s, _ := adaptive.Configure(n, adaptive.QoS{}, adaptive.Limits{Confirm: adaptive.Unconfirmed})
	accuracy.claim(math.Abs(s.Period.Seconds()-9.8) < 0.05, "period for T_D 30 s, T_MR 30 days, T_M 60 s", "9.8 s", "%.2f s, if 1 %% is lost and V is 0.01 s²; the paper does not give its values", s.Period.Seconds())
	perfect, _ := adaptive.Configure(adaptive.Network{Variance: 1e-6}, adaptive.QoS{}, adaptive.Limits{Confirm: adaptive.Unconfirmed, Beats: 1})
	accuracy.differs(math.Abs(perfect.Period.Seconds()-9.8) < 0.05, "the same, without loss, V 1e-6 s²", "9.8 s", "%.1f s; we ask for three beats within T all the same", perfect.Period.Seconds())
	kbit := 1024 * 40 * 8 / s.Period.Seconds() / 1000
	accuracy.claim(math.Abs(kbit-33.5) < 0.2, "beats of 40 bytes from 1,024 processes at that period", "33.5 kbit/s", "%.1f kbit/s", kbit)
	accuracy.differs(last.kbit <= 33.5, fmt.Sprintf("all traffic, %d processes, measured in the simulation", largest), "33.5 kbit/s for 1,024", "%.1f kbit/s: beats each %.1f s on average, %.1f kbit/s of renewals and echoes", last.kbit, last.period, last.other)
	return []*figure{memory, accuracy}
}

// hour is the result of an hour of observation.
type hour struct {
	bytes    float64
	accuracy float64
	mistakes int
	kbit     float64 // all messages
	other    float64 // all but beats
	period   float64 // mean
}

// far draws how a process is connected: lognormal delays of 0.1 ms, or of 10 ms with losses.
func far(rng *rand.Rand, i int) (lost bool, delay adaptive.Duration) {
	if i < 256 {
		return rng.Float64() < 1e-5, seconds64(1e-4 * math.Exp(rng.NormFloat64()*0.3))
	}
	return rng.Float64() < 1e-3, seconds64(1e-2 * math.Exp(rng.NormFloat64()*0.3))
}

// cluster is an observer and many emitters in virtual time.
type cluster struct {
	rng      *rand.Rand
	now      adaptive.Time
	mail     mailbox
	posted   int
	observer adaptive.Observer
	emitters []adaptive.Emitter
	clock    []adaptive.Duration // of each emitter, ahead of the observer's

	suspected     adaptive.Duration
	beats, others int
	suspectedAt   []adaptive.Time
	mistakes      int
}

type letter struct {
	at      adaptive.Time
	order   int
	process int
	message adaptive.Message
}

// mailbox is a heap of the letters under way.
type mailbox []letter

func (m mailbox) Len() int { return len(m) }
func (m mailbox) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(m[i].at, m[j].at), cmp.Compare(m[i].order, m[j].order)) < 0
}
func (m mailbox) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *mailbox) Push(x any)   { *m = append(*m, x.(letter)) }
func (m *mailbox) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// observeForAnHour plays two hours, of which the second counts.
func observeForAnHour(n int, seed uint64) hour {
	rng := rand.New(rand.NewPCG(seed, 4))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := &cluster{rng: rng, emitters: make([]adaptive.Emitter, n), clock: make([]adaptive.Duration, n), suspectedAt: make([]adaptive.Time, n)}
	for i := range n {
		c.clock[i] = seconds64(rng.Float64() * 1e5)
		c.act(c.observer.Step(adaptive.Observe{Peer: i, At: c.now, Limits: adaptive.Limits{Confirm: adaptive.Unconfirmed}}))
	}
	const length = 3600 * adaptive.Second
	c.run(adaptive.Time(length))
	c.beats, c.others, c.mistakes, c.suspected = 0, 0, 0, 0
	c.run(adaptive.Time(2 * length))
	c.emitters, c.mail, c.clock, c.suspectedAt = nil, nil, nil, nil // only the observer is left
	runtime.GC()
	runtime.ReadMemStats(&after)
	mean := 0.0
	for i := range n {
		mean += c.observer.Watch(i).Period().Seconds() / float64(n)
	}
	of := func(messages int) float64 {
		return float64(messages) * (adaptive.SealedSize + 8) * 8 / length.Seconds() / 1000
	}
	return hour{
		bytes: max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc)), mistakes: c.mistakes, period: mean,
		accuracy: 1 - float64(c.suspected)/float64(length)/float64(n), kbit: of(c.beats + c.others), other: of(c.others),
	}
}

// run lets time pass: messages arrive, and machines get their Ticks.
func (c *cluster) run(until adaptive.Time) {
	const wake = 10 * adaptive.Millisecond // the emitters' timer
	for c.now < until {
		next := c.now.Add(wake)
		for len(c.mail) > 0 && c.mail[0].at <= next {
			l := heap.Pop(&c.mail).(letter)
			c.tick(l.at)
			c.now = max(c.now, l.at)
			c.arrive(l)
		}
		c.tick(next)
		c.now = next
		for i := range c.emitters {
			here := c.now.Add(c.clock[i])
			if at, ok := c.emitters[i].Deadline(); ok && at <= here {
				c.send(i, c.emitters[i].Step(adaptive.Instant{Now: here}))
			}
		}
	}
}

// tick gives the observer its Ticks up to a moment.
func (c *cluster) tick(until adaptive.Time) {
	for {
		at, ok := c.observer.Deadline()
		if !ok || at >= until {
			return
		}
		c.now = max(c.now, at)
		c.act(c.observer.Step(adaptive.Tick{Now: at}))
	}
}

func (c *cluster) post(i int, m adaptive.Message) {
	if _, isBeat := m.(adaptive.Beat); isBeat {
		c.beats++
	} else {
		c.others++
	}
	if lost, delay := far(c.rng, i); !lost {
		c.posted++
		heap.Push(&c.mail, letter{c.now.Add(delay), c.posted, i, m})
	}
}

func (c *cluster) send(i int, replies []adaptive.Reply) {
	for _, r := range replies {
		c.post(i, r.Message)
	}
}

func (c *cluster) act(actions []adaptive.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case adaptive.Send:
			c.post(a.Peer, a.Message)
		case adaptive.Suspect:
			c.mistakes++
			c.suspectedAt[a.Peer] = c.now
		case adaptive.Trust:
			c.suspected += c.now.Sub(c.suspectedAt[a.Peer])
		}
	}
}

func (c *cluster) arrive(l letter) {
	here := c.now.Add(c.clock[l.process])
	switch m := l.message.(type) {
	case adaptive.Adjust:
		if _, ok := c.emitters[l.process].Deadline(); !ok {
			c.send(l.process, c.emitters[l.process].Step(adaptive.Accept{Observer: 0, At: here, Adjust: m}))
			return
		}
		c.send(l.process, c.emitters[l.process].Step(adaptive.Adjusted{Observer: 0, At: here, Adjust: m}))
	case adaptive.Probe:
		c.send(l.process, c.emitters[l.process].Step(adaptive.Probed{Observer: 0, At: here, Probe: m}))
	case adaptive.Beat:
		c.act(c.observer.Step(adaptive.Heard{Peer: l.process, At: c.now, Beat: m}))
	case adaptive.Echo:
		c.act(c.observer.Step(adaptive.Answered{Peer: l.process, At: c.now, RTT: c.now.Sub(m.Clock)}))
	}
}
