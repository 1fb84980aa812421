package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

// A ports is a group of flood members with one port each: a member sends one message at
// a time and receives one at a time, and each takes up to τ at either end.
type ports struct {
	agenda
	tau            mono.Duration
	rng            *rand.Rand
	members        []*flood.Flood
	out, in        []mono.Time // when a port is free
	known          []mono.Time // by item: when the last member learnt of the item
	heard          []int       // by item: how many have
	processesBelow int         // each member informs this number of others, one after the other
}

func newPorts(n, items int, tau mono.Duration, seed uint64) *ports {
	p := &ports{tau: tau, rng: rand.New(rand.NewPCG(seed, 8)), out: make([]mono.Time, n), in: make([]mono.Time, n),
		known: make([]mono.Time, items), heard: make([]int, items)}
	for me := range n {
		p.members = append(p.members, flood.New(flood.Config{N: n, Me: me, Items: items}))
	}
	return p
}

// publish gives an item to member me at time 0.
func (p *ports) publish(me, item int) {
	p.plan(0, func() { p.step(me, flood.Publish{Items: rankset.Of(item)}) })
}

// run returns the mean time until all members know an item.
func (p *ports) run() mono.Duration {
	p.drain()
	sum := mono.Duration(0)
	for item, at := range p.known {
		if p.heard[item] != len(p.members) {
			return math.MaxInt64
		}
		sum += mono.Duration(at)
	}
	return sum / mono.Duration(len(p.known))
}

func (p *ports) step(me int, ev flood.Event) {
	for _, a := range p.members[me].Step(ev) {
		switch a := a.(type) {
		case flood.Deliver:
			for item := range a.Items.All() {
				p.heard[item]++
				p.known[item] = max(p.known[item], p.now.Add(mono.Duration(p.processesBelow)*p.tau/8))
			}
		case flood.Send:
			p.out[me] = max(p.out[me], p.now).Add(1 + mono.Duration(p.rng.Int64N(int64(p.tau))))
			to, msg := a.To, a.Msg
			p.plan(p.out[me], func() { p.receive(me, to, msg) })
		}
	}
}

// receive takes the message off the network, which occupies the receiver's port.
func (p *ports) receive(from, to int, msg []byte) {
	p.in[to] = max(p.in[to], p.now).Add(p.tau / 2)
	p.plan(p.in[to], func() { p.step(to, flood.Receive{From: from, Msg: msg}) })
}

// concurrentFigure is Figure 10, centre: the mutual costs of concurrent broadcasts.
func concurrentFigure(r run) []*figure {
	f := &figure{id: "ring10centre", title: "RR-9024, Fig. 10 centre: concurrent death notices, one port", xLabel: "notices at once", yLabel: "mean time of one, relative to one alone"}
	n := 2048
	if r.quick {
		n = 256
	}
	curve := f.add("internal/protocol/flood, 2,048 members", true)
	sequential := f.add("one after the other", true)
	alone := 0.0
	for _, k := range []int{1, 2, 4, 8} {
		total := 0.0
		for seed := range uint64(3) {
			p := newPorts(n, k, mono.Microsecond, r.seedOf(seed))
			for item := range k {
				p.publish(p.rng.IntN(n), item)
			}
			total += float64(p.run()) / 3
		}
		if k == 1 {
			alone = total
		}
		curve.at(float64(k), total/alone)
		sequential.at(float64(k), float64(k+1)/2)
	}
	f.of(values(curve.y[2:]), func(v []float64) bool { return v[0] > 1.5 && v[1] > v[0] },
		"4 and 8 concurrent notices against one", "significantly slower (RR-9024 §5.5)", "%.2f and %.2f times (one after the other: 2.5, 4.5)")
	f.but(values(curve.y[1:2]), func(v []float64) bool { return 1 <= v[0] && v[0] < 1.1 },
		"2 concurrent notices against one", "overlap almost completely (RR-9024 §5.5)", "%.2f times (one after the other: 1.5)")
	return []*figure{f}
}

// processFigures are Figures 11 and 12 of Zhong et al.: a process ends and its node
// knows at once; how long until all processes know. The time of a message is fitted at
// the last point of each curve; the others are compared with the logarithm itself.
func processFigures(r run) []*figure {
	f := &figure{id: "rdaemon11", title: "PARCO 2019, Fig. 11: death of a process, 12 processes a node", xLabel: "nodes", yLabel: "ms until all know"}
	var nodes []int
	for n := 2; n <= 64; n *= 2 {
		nodes = append(nodes, n)
	}
	perNode := f.add("notices between nodes, then to the processes of each", true)
	perProcess := f.add("notices between processes", true)
	daemonTau := scaleTo(4.5, func(tau mono.Duration) float64 { return r.notice(64, 12, tau) })
	processTau := scaleTo(3, func(tau mono.Duration) float64 { return r.notice(768, 0, tau) })
	for _, n := range nodes {
		perNode.at(float64(n), r.notice(n, 12, daemonTau))
		perProcess.at(float64(n), r.notice(12*n, 0, processTau))
	}
	f.stated("below 5 ms (nodes)", []float64{2, 64}, []float64{5, 5})
	f.stated("2 to 3 ms (processes)", []float64{2, 64}, []float64{2, 3})
	claimLogarithm(f, perNode, daemonTau, 12, "death of a process, notices between nodes", "a·log2(nodes) + b, as the paper's fit (PARCO 2019 §5.5)")
	var processes series
	for i, n := range perProcess.x {
		processes.at(12*n, perProcess.y[i])
	}
	claimLogarithm(f, &processes, processTau, 0, "death of a process, notices between processes", "a·log2(processes) + b, as the paper's fit (PARCO 2019 §5.5)")
	f.but(values{perProcess.y[0]}, func(v []float64) bool { return near(v[0], 2, 0.1) },
		"the same, 24 processes, if 768 take 3 ms", "2 ms (PARCO 2019 §5.5)", "%.2f ms")

	g := &figure{id: "rdaemon12", title: "PARCO 2019, Fig. 12: death of a process, 32 processes a node, to 4,096", xLabel: "nodes", yLabel: "ms until all know"}
	curve := g.add("notices between nodes, then to the processes of each", true)
	tau := scaleTo(10, func(tau mono.Duration) float64 { return r.notice(128, 32, tau) })
	for n := 2; n <= 128; n *= 2 {
		curve.at(float64(n), r.notice(n, 32, tau))
	}
	g.stated("about 10 ms at 4,096 processes", []float64{128}, []float64{10})
	claimLogarithm(g, curve, tau, 32, "death of a process, to 4,096 processes on 128 nodes", "logarithmic in nodes (PARCO 2019 §5.5)")
	return []*figure{f, g}
}

// claimLogarithm claims that a curve over the logarithm of its size is constant, without the time
// in which a node informs its processes. The time of a message cancels out, so nothing is fitted.
func claimLogarithm(f *figure, curve *series, tau mono.Duration, below int, what, paper string) {
	var shares []float64
	for i, x := range curve.x {
		spread := curve.y[i]*1e6 - float64(below)*float64(tau)/8
		shares = append(shares, spread/float64(tau)/math.Log2(x))
	}
	f.of(values{slices.Min(shares), slices.Max(shares), float64(tau) / 1e3}, func(v []float64) bool { return v[1]/v[0] < 1.2 },
		what, paper, "%.2f to %.2f times log2 n messages of %.0f us; the last point is fitted")
}

// notice returns the time in ms until one notice has reached all, as a mean.
func (r run) notice(n, below int, tau mono.Duration) float64 {
	runs := 20.0
	if r.quick {
		runs = 4
	}
	sum := 0.0
	for seed := range uint64(runs) {
		p := newPorts(n, 1, tau, r.seedOf(seed))
		p.processesBelow = below
		p.publish(0, 0)
		sum += float64(p.run()) / 1e6 / runs
	}
	return sum
}

// scaleTo returns the time of a message with which the last point of a curve is as
// stated. All times are proportional to it.
func scaleTo(stated float64, at func(mono.Duration) float64) mono.Duration {
	const probe = mono.Millisecond
	return mono.Duration(float64(probe) * stated / at(probe))
}
