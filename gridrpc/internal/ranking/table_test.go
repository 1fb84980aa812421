package ranking

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/mono"
)

func est(name string, wait, rate float64) Estimate {
	return Estimate{Server: Server{Name: name, Incarnation: 1}, Service: "x", Wait: wait, Rate: rate, Free: 1}
}

func names(all []Estimate) (list []string) {
	for _, e := range all {
		list = append(list, e.Server.Name)
	}
	return list
}

// TestMetric: servers with a free place are in the order of the metric, then of the completion. A
// full server is last for any metric.
func TestMetric(t *testing.T) {
	var table Table
	offer := func(name string, metric, wait float64, free int) Estimate {
		return Estimate{Server: Server{Name: name, Incarnation: 1}, Service: "x", Metric: metric, Wait: wait, Free: free}
	}
	table.Report(1, []Estimate{offer("cheap", -2, 9, 1), offer("slow", 1, 5, 1), offer("full", -3, 0, 0), offer("fast", 1, 0, 1)}, 0)
	best, _ := table.Best(Request{Service: "x", Work: 1})
	var names []string
	for _, e := range best {
		names = append(names, e.Server.Name)
	}
	assert.Equal(t, []string{"cheap", "fast", "slow", "full"}, names)
}

// TestBestIsWhoIsDoneFirst: wait, bytes and work count, and a server with an unknown rate is
// average.
func TestBestIsWhoIsDoneFirst(t *testing.T) {
	var table Table
	far := est("far", 0, 100)
	far.Bandwidth = 10
	full := est("full", 0, 1000)
	full.Free = 0
	table.Report(1, []Estimate{est("slow", 0, 10), est("busy", 5, 100), far}, 0)
	table.Report(2, []Estimate{est("fast", 0, 100), est("new", 0, 0), full}, 0)

	best, known := table.Best(Request{Service: "x", Work: 100, Bytes: 40})
	assert.True(t, known)
	assert.Equal(t, []string{"fast", "new", "far", "busy"}, names(best)) // 1 s, 1 s as the median, 5 s, 6 s
	best, _ = table.Best(Request{Service: "x", Work: 100, Exclude: []Server{{"fast", 1}, {"new", 1}, {"far", 1}, {"slow", 1}}})
	assert.Equal(t, []string{"busy", "full"}, names(best))
	best, known = table.Best(Request{Service: "y"})
	assert.Empty(t, best)
	assert.False(t, known)
}

// TestCheckpointNearby: among equal servers those on a machine with the checkpoint come first,
// because it needs no transfer, unless they are busy for longer than the transfer takes.
func TestCheckpointNearby(t *testing.T) {
	var table Table
	at := func(name, host string, wait float64) Estimate {
		e := est(name, wait, 100)
		e.Host = host
		return e
	}
	table.Report(1, []Estimate{at("a", "h1", 0), at("b", "h2", 0), at("c", "h3", 0.5), at("d", "", 0)}, 0)
	order := func(saved float64, holders ...string) []string {
		best, _ := table.Best(Request{Service: "x", Work: 100, Saved: saved, Holders: holders})
		return names(best)
	}
	assert.Equal(t, []string{"a", "b", "d", "c"}, order(0, "h2"), "there is none")
	assert.Equal(t, []string{"b", "a", "d", "c"}, order(1, "h2"))
	assert.Equal(t, []string{"b", "a", "d", "c"}, order(usualBandwidth/4, "h2", "h3"), "c would begin later than it is brought")
	assert.Equal(t, []string{"b", "c", "a", "d"}, order(usualBandwidth, "h2", "h3"), "it takes a second")
	assert.Equal(t, []string{"a", "b", "d", "c"}, order(usualBandwidth), "no holder is known")

	slow, quick := at("slow", "h4", 0), at("quick", "h5", 0.5)
	slow.Bandwidth, quick.Bandwidth = 10, 1000
	table.Report(1, []Estimate{slow, quick}, 0)
	assert.Equal(t, []string{"quick", "slow"}, order(100, "h6"), "1.6 s and 11 s")
	assert.Equal(t, []string{"slow", "quick"}, order(100, "h4"), "1 s and 1.6 s")
}

// TestWait: a server without a free place is worse than one with a free place, also while the
// duration of a body is unknown.
func TestWait(t *testing.T) {
	assert.Zero(t, Wait(2, 1, 30))
	assert.Equal(t, 7.5, Wait(2, 2, 30))
	assert.Equal(t, 15.0, Wait(1, 1, 30))
	assert.Equal(t, 45.0, Wait(1, 2, 30))
	assert.Positive(t, Wait(1, 1, 0))
}

// TestBookedUntilTheNextReport: two clients of one moment get two servers.
func TestBookedUntilTheNextReport(t *testing.T) {
	var table Table
	r := Request{Service: "x", Work: 100}
	number := uint64(0)
	report := func() {
		a := est("a", 0, 100)
		a.Number = number
		table.Report(1, []Estimate{a, est("b", 0, 90)}, 0)
	}
	report()
	best, _ := table.Best(r)
	assert.Equal(t, "a", best[0].Server.Name)
	table.Book(r, best[0].Server)
	best, _ = table.Best(r)
	assert.Equal(t, "b", best[0].Server.Name)
	report() // an agent repeats the earlier report of the server
	best, _ = table.Best(r)
	assert.Equal(t, "b", best[0].Server.Name)
	number++
	report()
	best, _ = table.Best(r)
	assert.Equal(t, "a", best[0].Server.Name)
}

// TestEachServerOnce: a server that moves between children, or was restarted, is listed once (G6).
func TestEachServerOnce(t *testing.T) {
	var table Table
	old, young := est("a", 7, 1), est("a", 1, 1)
	young.Said = mono.Time(mono.Second)
	table.Report(1, []Estimate{old}, 0)
	table.Report(2, []Estimate{young}, 0)
	assert.Equal(t, []Estimate{young}, table.Estimates("x"))
	anew := est("a", 3, 1)
	anew.Server.Incarnation = 2
	table.Report(3, []Estimate{anew}, 0)
	assert.Equal(t, []Estimate{anew}, table.Estimates("x"))
	table.Drop(3, 0)
	assert.Equal(t, []Estimate{young}, table.Estimates("x"))
}

// TestQuietSinceTheLastChange: estimates that change are no change of the tree.
func TestQuietSinceTheLastChange(t *testing.T) {
	var table Table
	table.Report(1, []Estimate{est("a", 0, 1)}, 1)
	table.Report(1, []Estimate{est("a", 9, 9)}, 2)
	assert.Equal(t, mono.Time(1), table.Changed)
	table.Drop(2, 3)
	assert.Equal(t, mono.Time(1), table.Changed)
	table.Report(1, []Estimate{est("a", 9, 9), est("b", 0, 1)}, 4)
	assert.Equal(t, mono.Time(4), table.Changed)
	table.Drop(1, 5)
	assert.Equal(t, mono.Time(5), table.Changed)
}

// slowly is Best by its definition: the latest of each server, sorted.
func slowly(children [][]Estimate, r Request) (list []string) {
	var all []Estimate
	for _, c := range children {
		for _, e := range c {
			if e.Service != r.Service {
				continue
			}
			i := slices.IndexFunc(all, func(o Estimate) bool { return o.Server.Name == e.Server.Name })
			switch {
			case i < 0:
				all = append(all, e)
			case all[i].Server.Incarnation < e.Server.Incarnation, all[i].Server == e.Server && all[i].Said < e.Said:
				all[i] = e
			}
		}
	}
	all = slices.DeleteFunc(all, func(e Estimate) bool { return slices.Contains(r.Exclude, e.Server) })
	rates := []float64{}
	for _, e := range all {
		if e.Rate > 0 {
			rates = append(rates, e.Rate)
		}
	}
	slices.Sort(rates)
	done := func(e Estimate) float64 {
		if e.Rate == 0 && len(rates) > 0 {
			e.Rate = rates[len(rates)/2]
		}
		if e.Rate == 0 {
			return e.Wait
		}
		return e.Wait + r.Work/e.Rate
	}
	slices.SortStableFunc(all, func(a, b Estimate) int {
		return cmp.Or(cmp.Compare(min(1, b.Free), min(1, a.Free)), cmp.Compare(done(a), done(b)), cmp.Compare(a.Server.Name, b.Server.Name))
	})
	return names(all[:min(len(all), CandidatesMax)])
}

// TestBestAsDefined: on random tables that change, the choice equals that of sorting.
func TestBestAsDefined(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	number := uint64(0)
	for range 300 {
		var table Table
		children := make([][]Estimate, 1+random.IntN(4))
		for range 6 {
			i := random.IntN(len(children))
			children[i] = nil
			for range random.IntN(8) {
				e := est(string(rune('a'+random.IntN(9))), float64(random.IntN(3)), float64(random.IntN(3)))
				e.Server.Incarnation, e.Said, e.Free = uint64(1+random.IntN(2)), mono.Time(random.IntN(3)), random.IntN(2)
				number++
				e.Number = number // no call is booked for it yet
				if !slices.ContainsFunc(children[i], func(o Estimate) bool { return o.Server.Name == e.Server.Name }) {
					children[i] = append(children[i], e)
				}
			}
			table.Report(uint64(i), slices.Clone(children[i]), 0)
			r := Request{Service: "x", Work: float64(random.IntN(5))}
			for range random.IntN(3) {
				r.Exclude = append(r.Exclude, Server{string(rune('a' + random.IntN(9))), uint64(1 + random.IntN(2))})
			}
			order := make([][]Estimate, 0, len(children)) // in the order of their first reports
			for _, c := range table.children {
				order = append(order, children[c.id])
			}
			best, _ := table.Best(r)
			assert.Equal(t, slowly(order, r), names(best))
		}
	}
}

// BenchmarkDecision is one decision among 96 servers of 8 agents.
func BenchmarkDecision(b *testing.B) {
	var table Table
	for i := range 8 {
		var list []Estimate
		for j := range 12 {
			e := est(fmt.Sprintf("s%d", i*12+j), 0, 1000)
			e.Free = 1 << 30
			list = append(list, e)
		}
		table.Report(uint64(i), list, 0)
	}
	r := Request{Service: "x", Work: 1, Bytes: 64}
	for b.Loop() {
		best, _ := table.Best(r)
		table.Book(r, best[0].Server)
	}
}

// TestNear: suggestions for a misspelt name.
func TestNear(t *testing.T) {
	var table Table
	table.Report(1, []Estimate{{Service: "square"}, {Service: "sum"}, {Service: "dgemm"}, {Service: "cholesky"}}, 0)
	assert.Equal(t, "square", table.Near("sqare")[0])
	assert.Equal(t, "dgemm", table.Near("gemm")[0])
	assert.Len(t, table.Near("z"), 3)
	assert.Equal(t, 3, Distance("kitten", "sitting"))
}
