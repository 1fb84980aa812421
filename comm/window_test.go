package comm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// BenchmarkWindowSameThread plays both sides of a window of short messages in one goroutine: it
// measures the cost of each call by itself, without another processor's cache. The minimum of all
// rounds is hardly disturbed by other programs.
func BenchmarkWindowSameThread(b *testing.B) {
	const window = 64
	w := inproc.New(2)
	var worlds [2]*comm.Comm
	for i := range worlds {
		p := engine.New(w.Port(i), engine.Config{SpinPolls: 20})
		defer p.Close()
		worlds[i] = door.World(p)
	}
	ctx := context.Background()
	out, in := make([]uint64, window), make([]uint64, window)
	sends, recvs := make([]comm.Request, window), make([]comm.Request, window)
	steps := []struct {
		name string
		do   func() error
	}{
		{"irecv", func() error {
			for i := range recvs {
				recvs[i] = comm.Irecv(worlds[1].From(0).Tag(7), in[i:i+1])
			}
			return nil
		}},
		{"isend", func() error {
			for i := range sends {
				sends[i] = comm.Isend(worlds[0].To(1).Tag(7), out[i:i+1])
			}
			return nil
		}},
		{"waitrecvs", func() error { return comm.WaitAll(ctx, recvs...) }},
		{"waitsends", func() error { return comm.WaitAll(ctx, sends...) }},
	}
	took := make([][]time.Duration, len(steps))
	for b.Loop() {
		for i := range steps {
			begin := time.Now()
			if err := steps[i].do(); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begin))
		}
	}
	for i, step := range steps {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][0])/window, step.name+"-min-ns")
		b.ReportMetric(float64(took[i][len(took[i])/2])/window, step.name+"-median-ns")
	}
}
