package agent

import (
	"context"
	"math"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// reportEvery is the shortest time between two reports to the parent.
const reportEvery = 50 * time.Millisecond

// Reported stores the report of a child.
func (a *Agent) Reported(child uint64, r *pb.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	var list []ranking.Estimate
	for _, e := range r.Estimates {
		if !sensible(e) {
			continue
		}
		list = append(list, ranking.Estimate{
			Server: ranking.Server{Name: e.Server.GetName(), Incarnation: e.Server.GetIncarnation()}, Addr: e.Server.GetAddr(), Host: e.Host,
			Number: e.Number, Service: e.Service, Wait: e.Wait, Rate: e.Rate, Bandwidth: e.Bandwidth, Metric: e.Metric, Free: int(e.Free),
			Said: now.Add(-mono.Duration(e.Age * float64(mono.Second))),
		})
	}
	a.table.Report(child, list, now)
	if r.Keeping != nil {
		a.keeps.Report(child, keptOf(r.Keeping.Calls))
	}
	a.answers[child] = max(a.answers[child], r.Answers)
	a.changed()
}

// sensible reports whether the values of an estimate can be sorted and added.
func sensible(e *pb.Estimate) bool {
	for _, v := range []float64{e.Wait, e.Rate, e.Bandwidth, e.Age} {
		if !(v >= 0 && v < 1e18) { // also false for NaN
			return false
		}
	}
	if !(math.Abs(e.Metric) < 1e18) {
		return false
	}
	return e.GetServer().GetName() != "" && e.Age < 1e6 && e.Free < 1<<30
}

// Gone removes a child.
func (a *Agent) Gone(child uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.table.Drop(child, a.now())
	a.keeps.Drop(child)
	delete(a.answers, child)
	a.changed()
}

// changed wakes the goroutines that wait for reports. The caller holds mu.
func (a *Agent) changed() {
	close(a.more)
	a.more = make(chan struct{})
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// Attached makes the next report to a new parent complete.
func (a *Agent) Attached() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.toldKeeps = 0
	a.changed()
}

// tellParent reports changes to the parent, at most one report in each reportEvery.
func (a *Agent) tellParent(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.news:
		}
		a.report(0)
		select {
		case <-ctx.Done():
		case <-time.After(reportEvery):
		}
	}
}

// report sends the state of this subtree to the parent, with the number of the question that it
// answers, or 0.
func (a *Agent) report(answers uint64) {
	a.telling.Lock()
	defer a.telling.Unlock()
	a.mu.Lock()
	r := &pb.Report{Answers: answers}
	if a.toldKeeps != a.keeps.Version {
		r.Keeping, a.toldKeeps = &pb.Keeping{Calls: keptTo(a.keeps.All())}, a.keeps.Version
	}
	for _, e := range a.table.Estimates("") {
		r.Estimates = append(r.Estimates, a.toWire(e))
	}
	a.mu.Unlock()
	a.branch.Report(r)
}

func (a *Agent) toWire(e ranking.Estimate) *pb.Estimate {
	return &pb.Estimate{
		Server: &pb.Ref{Name: e.Server.Name, Incarnation: e.Server.Incarnation, Addr: e.Addr}, Host: e.Host, Number: e.Number,
		Service: e.Service, Wait: e.Wait, Rate: e.Rate, Bandwidth: e.Bandwidth, Metric: e.Metric, Free: uint32(max(0, e.Free)),
		Age: float64(a.now().Sub(e.Said)) / float64(mono.Second),
	}
}

// Asked answers a question of the parent once the children have answered, at the latest after three
// quarters of its time.
func (a *Agent) Asked(q *pb.Question) {
	go func() {
		a.refresh(context.Background(), time.Duration(q.Within)*3/4)
		a.report(q.Number)
	}()
}

// refresh requests reports from all children. A child that does not answer within that time is left
// out: the result may be incomplete, but it is never late.
func (a *Agent) refresh(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a.mu.Lock()
	a.questions++
	number := a.questions
	a.mu.Unlock()
	children := a.branch.Ask(&pb.Question{Number: number, Within: int64(within)})
	for {
		a.mu.Lock()
		waits, more := a.waits(children, number), a.more
		a.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

// waits reports whether a child that is still linked has not answered.
func (a *Agent) waits(children []uint64, number uint64) bool {
	for _, c := range children {
		if latest, there := a.answers[c]; there && latest < number {
			return true
		}
	}
	return false
}
