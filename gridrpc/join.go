package gridrpc

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// reportEvery is the shortest time between two reports.
const reportEvery = 100 * time.Millisecond

// stayJoined keeps the server linked to a master.
func (s *Server) stayJoined(ctx context.Context, id *link.Identity) {
	pause := 50 * time.Millisecond
	for ctx.Err() == nil {
		begun := time.Now()
		_ = s.join(ctx, id)
		if time.Since(begun) > time.Second {
			pause = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause + rand.N(pause)):
		}
		pause = min(2*pause, time.Second)
	}
}

// join links the server to a master until the link breaks.
func (s *Server) join(ctx context.Context, id *link.Identity) error {
	masters, err := readMasters(s.dir)
	if err != nil || len(masters) == 0 {
		return errParent
	}
	conn, err := id.Dial(masters[rand.N(len(masters))])
	if err != nil {
		return err
	}
	defer conn.Close()
	up, err := pb.NewAgentClient(conn).Link(ctx)
	if err != nil {
		return err
	}
	err = up.Send(&pb.Up{Kind: &pb.Up_Join{Join: &pb.Join{Child: s.me, Generation: rand.Uint64()}}})
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	go func() {
		for {
			if _, err := up.Recv(); err != nil {
				broken <- err
				return
			}
		}
	}()
	for {
		if err := up.Send(&pb.Up{Kind: &pb.Up_Report{Report: &pb.Report{Estimates: s.estimates()}}}); err != nil {
			return err
		}
		select {
		case err := <-broken:
			return err
		case <-time.After(reportEvery):
		}
		select {
		case err := <-broken:
			return err
		case <-s.news:
		}
	}
}
