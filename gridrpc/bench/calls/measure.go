package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/bench/internal/processes"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
)

// program is the server, in the folder of the module.
const program = "./bench/calls/serve"

// fleet is the number of servers to choose from.
const fleet = 96

// scene is a platform, a client of it and plain connections.
type scene struct {
	*processes.Platform
	client *gridrpc.Client
	id     *link.Identity
	close  []func()
}

// open starts a platform with a number of servers.
func open(ctx context.Context, servers int, o []gridrpc.DialOption, flags ...string) (s *scene, err error) {
	dir, err := os.MkdirTemp("", "calls")
	if err != nil {
		return nil, err
	}
	s = &scene{close: []func(){func() { os.RemoveAll(dir) }}}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	if s.Platform, err = processes.Start(ctx, dir, program, flags...); err != nil {
		return s, err
	}
	s.close = append(s.close, s.End)
	if s.client, err = gridrpc.Dial(ctx, "", o...); err != nil {
		return s, err
	}
	s.close = append(s.close, s.client.Close)
	if s.id, err = link.Load(s.Dir, "client"); err != nil {
		return s, err
	}
	return s, processes.AwaitServers(ctx, s.client, "echo", servers)
}

// end closes all that open has opened, the latest first.
func (s *scene) end() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
}

// dial makes a plain connection.
func (s *scene) dial(addr string) (*grpc.ClientConn, error) {
	conn, err := s.id.Dial(addr)
	if err == nil {
		s.close = append(s.close, func() { link.HangUp(conn) })
	}
	return conn, err
}

// measureRule measures the choice alone, without a message.
func measureRule(_ context.Context, p plan) ([]row, error) {
	var t ranking.Table
	var list []ranking.Estimate
	for i := range fleet {
		list = append(list, ranking.Estimate{Server: ranking.Server{Name: "s" + strconv.Itoa(i), Incarnation: 1}, Service: "echo", Rate: 1e3, Free: 1 << 30})
	}
	for i := range 8 {
		t.Report(uint64(i), list[i*fleet/8:(i+1)*fleet/8], 1)
	}
	r := ranking.Request{Service: "echo", Work: 1, Bytes: 64}
	took, err := latency(p.each, func() error {
		best, known := t.Best(r)
		if !known {
			return fmt.Errorf("nobody offers %s", r.Service)
		}
		t.Book(r, best[0].Server)
		return nil
	})
	return []row{{fmt.Sprintf("decisions among %d servers, the rule alone", fleet), rate(1 / took), "", "", "200,000/s"}}, err
}

// measureCalls measures calls at one server.
func measureCalls(ctx context.Context, p plan) ([]row, error) {
	s, err := open(ctx, 1, nil, "--tree", "1x1", "--no-restart", "--store", "")
	if err != nil {
		return nil, err
	}
	defer s.end()
	offers, err := s.client.Offers(ctx)
	if err != nil {
		return nil, err
	}
	masters, err := discovery.Masters(s.Dir)
	if err != nil {
		return nil, err
	}
	conn, err := s.dial(offers[0].Addr)
	if err != nil {
		return nil, err
	}
	master, err := s.dial(masters[0])
	if err != nil {
		return nil, err
	}
	probe := func() error { _, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{}); return err }
	both := func() error {
		if _, err := pb.NewNodeClient(master).Probe(ctx, &pb.ProbeRequest{}); err != nil {
			return err
		}
		return probe()
	}
	echo := gridrpc.Service[[]byte, []byte](s.client, "echo")
	in := make([]byte, 64)
	call := func() error { _, err := echo.Call(ctx, &in); return err }
	var rows []row
	a, b, ratio, err := inTurns(p.turns,
		func() (float64, error) { return latency(p.each, call) },
		func() (float64, error) { return latency(p.each, probe) })
	rows = append(rows, row{"a call of 64 B", micro(a), micro(b), times(ratio), "2 times"})
	if err != nil {
		return rows, err
	}
	a, b, ratio, err = inTurns(p.turns,
		func() (float64, error) { return latency(p.each, call) },
		func() (float64, error) { return latency(p.each, both) })
	rows = append(rows, row{"the same, beside a plain call to the master and one to the server", micro(a), micro(b), times(ratio), ""})
	if err != nil {
		return rows, err
	}
	a, b, ratio, err = inTurns(p.turns,
		func() (float64, error) { return throughput(p.callers, p.each, call) },
		func() (float64, error) { return throughput(p.callers, p.each, probe) })
	return append(rows, row{fmt.Sprintf("calls of %d callers", p.callers), rate(a), rate(b), times(ratio), "2 times"}), err
}

// measureBulk measures calls with a large argument and the same as result.
func measureBulk(ctx context.Context, p plan) ([]row, error) {
	s, err := open(ctx, 1, nil, "--tree", "1x1", "--no-restart", "--store", "")
	if err != nil {
		return nil, err
	}
	defer s.end()
	echo := gridrpc.Service[[]byte, []byte](s.client, "echo")
	large := make([]byte, 64<<20)
	took, err := latency(time.Duration(p.turns)*p.each, func() error { _, err := echo.Call(ctx, &large); return err })
	return []row{{"bulk: 64 MiB there and back", fmt.Sprintf("%.0f MB/s", 2*float64(len(large))/took/1e6), "", "", "960 MB/s"}}, err
}

// measureDecisions measures the time of a master for a request for servers.
func measureDecisions(ctx context.Context, p plan) ([]row, error) {
	agents, below, _ := strings.Cut(p.tree, "x")
	n, err1 := strconv.Atoi(agents)
	m, err2 := strconv.Atoi(below)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("-tree %s: want two numbers, as 8x12", p.tree)
	}
	s, err := open(ctx, n*m, nil, "--tree", p.tree, "--no-restart", "--store", "")
	if err != nil {
		return nil, err
	}
	defer s.end()
	masters, err := discovery.Masters(s.Dir)
	if err != nil {
		return nil, err
	}
	conn, err := s.dial(masters[0])
	if err != nil {
		return nil, err
	}
	probe := func() error { _, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{}); return err }
	decide := func(fresh bool) func() error {
		return func() error {
			reply, err := pb.NewAgentClient(conn).Schedule(ctx, &pb.ScheduleRequest{Service: "echo", Work: 1, Bytes: 64, Fresh: fresh})
			if err == nil && len(reply.Candidates) == 0 {
				err = fmt.Errorf("no candidate")
			}
			return err
		}
	}
	a, b, ratio, err := inTurns(p.turns,
		func() (float64, error) { return throughput(p.callers, p.each, decide(false)) },
		func() (float64, error) { return throughput(p.callers, p.each, probe) })
	if err != nil {
		return nil, err
	}
	rows := []row{{fmt.Sprintf("decisions among %d servers, at the master", n*m), rate(a), rate(b), times(ratio), "20,000/s"}}
	a, b, ratio, err = inTurns(p.turns,
		func() (float64, error) { return throughput(p.callers, p.each, decide(true)) },
		func() (float64, error) { return throughput(p.callers, p.each, probe) })
	return append(rows, row{"the same, each asks all servers anew", rate(a), rate(b), times(ratio), "300/s"}), err
}

// silentAfter is the detection time that clients request for stopped servers.
const silentAfter = time.Second

// measureLosses measures the time from the loss of a server until another one runs its call.
func measureLosses(ctx context.Context, p plan) ([]row, error) {
	s, err := open(ctx, 3, []gridrpc.DialOption{gridrpc.Detect(silentAfter)}, "--tree", "1x3", "--store", "")
	if err != nil {
		return nil, err
	}
	defer s.end()
	var rows []row
	for _, kind := range []struct {
		what, goal string
		signal     syscall.Signal
	}{
		{"kill -9 of a server to the call running elsewhere", "50 ms", syscall.SIGKILL},
		{fmt.Sprintf("SIGSTOP of a server to the same, T_D %v", silentAfter), silentAfter.String(), syscall.SIGSTOP},
	} {
		var took []float64
		for range p.losses {
			d, err := s.lose(ctx, kind.signal)
			if err != nil {
				return rows, err
			}
			took = append(took, d.Seconds())
			if err := processes.AwaitServers(ctx, s.client, "echo", 3); err != nil {
				return rows, err
			}
		}
		half := median(took)
		rows = append(rows, row{kind.what, fmt.Sprintf("%.1f ms, at most %.1f", 1e3*half, 1e3*took[len(took)-1]), "", "", kind.goal})
	}
	return rows, nil
}

// observeFor is the duration of a call before the loss of its server: heartbeats are requested
// after 50 ms, and have arrived by then.
const observeFor = 300 * time.Millisecond

// lose kills or stops the server of a call, and returns the time until another server runs the
// call.
func (s *scene) lose(ctx context.Context, how syscall.Signal) (time.Duration, error) {
	var when, again time.Time
	var victim string
	failed := make(chan error, 1)
	lost := make(chan struct{})
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Progressed && e.Attempt == 1 && victim == "":
			victim = e.Server
			time.AfterFunc(observeFor, func() {
				when = time.Now()
				failed <- s.Signal(how, victim)
				close(lost)
			})
		case e.What == gridrpc.Began && e.Attempt == 2:
			again = time.Now()
		}
	})
	in := 1
	_, err := gridrpc.Service[int, int](s.client, "stay").Call(ctx, &in, watch)
	if err != nil {
		return 0, err
	}
	<-lost
	if err := <-failed; err != nil {
		return 0, err
	}
	if how == syscall.SIGSTOP {
		return again.Sub(when), s.Signal(syscall.SIGCONT, victim)
	}
	return again.Sub(when), nil
}
