package collate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/mono"
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

// TestBestIsWhoIsDoneFirst: wait, bytes and work count, and who is not known is average.
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

// TestWait: a server all of whose places are taken is worse than one that has a free one, also while
// nobody knows how long a body takes.
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
	report() // an agent repeats what the server had said before
	best, _ = table.Best(r)
	assert.Equal(t, "b", best[0].Server.Name)
	number++
	report()
	best, _ = table.Best(r)
	assert.Equal(t, "a", best[0].Server.Name)
}

// TestEachServerOnce: who moves from child to child, or was started anew, is named once (G6).
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

// TestNear: what somebody may have meant.
func TestNear(t *testing.T) {
	var table Table
	table.Report(1, []Estimate{{Service: "square"}, {Service: "sum"}, {Service: "dgemm"}, {Service: "cholesky"}}, 0)
	assert.Equal(t, "square", table.Near("sqare")[0])
	assert.Equal(t, "dgemm", table.Near("gemm")[0])
	assert.Len(t, table.Near("z"), 3)
	assert.Equal(t, 3, distance("kitten", "sitting"))
}
