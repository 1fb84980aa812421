package agent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
)

func newAgent() *Agent {
	return &Agent{news: make(chan struct{}, 1), answers: map[uint64]uint64{}, more: make(chan struct{})}
}

// FuzzReported: after any report of a child the candidates have an order, and the estimates that
// are sent on are sensible.
func FuzzReported(f *testing.F) {
	one := &pb.Estimate{Server: &pb.Ref{Name: "s1"}, Service: "x", Wait: 1, Rate: 2, Free: 1}
	for _, r := range []*pb.Report{
		{Estimates: []*pb.Estimate{one, one}},
		{Estimates: []*pb.Estimate{{Server: &pb.Ref{Name: "s1"}, Service: "x", Rate: math.NaN(), Age: math.Inf(1)}}},
		{Estimates: []*pb.Estimate{{Service: "x", Wait: -1}}, Answers: 1 << 63},
		{Keeping: &pb.Keeping{Calls: []*pb.Kept{{Call: make([]byte, 16), Attempt: 1, Server: &pb.Ref{Name: "s1"}}, {Call: []byte{1}}}}},
	} {
		data, err := proto.Marshal(r)
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r pb.Report
		if proto.Unmarshal(data, &r) != nil {
			return
		}
		a := newAgent()
		a.Reported(1, &r)
		a.Reported(2, &r)
		best, _ := a.table.Best(ranking.Request{Service: "x", Work: 1, Bytes: 1})
		assert.LessOrEqual(t, len(best), ranking.CandidatesMax)
		for _, e := range a.table.Estimates("") {
			assert.True(t, sensible(a.toWire(e)), "%+v", e)
		}
		for _, k := range a.keeps.All() {
			assert.NotZero(t, k.Attempt)
			found, ok := a.keeps.Find(k.Call)
			assert.True(t, ok)
			assert.Equal(t, k, found)
		}
		a.Gone(1)
		a.Gone(2)
		assert.Empty(t, a.table.Estimates(""))
		assert.Empty(t, a.keeps.All())
	})
}
