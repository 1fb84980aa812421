package server

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
)

// Times between two reports, at least and at most: with a report, agents forget their bookings of
// the server.
const (
	reportEvery  = 100 * time.Millisecond
	reportWithin = 2 * time.Second
)

// detection is the time after which a silent agent is declared dead.
const detection = 5 * adaptive.Second

// leaf is the place of a server in the tree of agents.
type leaf struct {
	server *Server
	branch *treehost.Branch

	mu      sync.Mutex // held while a report is sent: reports are in order
	told    []kept     // calls that the parent knows of
	tellAll bool       // the parent knows of none
}

// join gives the server its place.
func (s *Server) join(ctx context.Context, id *link.Identity) error {
	q := adaptive.QoS{Detection: detection}
	if text := os.Getenv(discovery.EnvDetect); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		q.Detection = adaptive.Duration(d)
	}
	if err := q.Check(); err != nil {
		return err
	}
	known, observed, err := discovery.Ancestors()
	if err != nil {
		return err
	}
	l := &leaf{server: s}
	l.branch = treehost.New(ctx, treehost.Config{
		Me: s.me, Identity: id, Pulse: s.pulse, Parent: os.Getenv(discovery.EnvParent), Detect: q, Owner: l, Known: known, Observed: observed, Stay: os.Getenv(discovery.EnvStay) != "",
		Address: func(name string) string { return discovery.Address(s.dir, name) },
		Oracle:  func(ctx context.Context) (*pb.Ref, error) { return discovery.Root(ctx, s.dir, id) },
	})
	s.leaf = l
	l.branch.Start()
	go l.tellParent(ctx)
	return nil
}

// tellParent reports changes to the parent.
func (l *leaf) tellParent(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.server.news:
		case <-time.After(reportWithin):
		}
		l.report(0)
		select {
		case <-ctx.Done():
		case <-time.After(reportEvery):
		}
	}
}

func (l *leaf) report(answers uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &pb.Report{Estimates: l.server.estimates(), Answers: answers}
	if now := l.server.keeping(); l.tellAll || !slices.Equal(now, l.told) {
		r.Keeping = &pb.Keeping{}
		for _, k := range now {
			r.Keeping.Calls = append(r.Keeping.Calls, k.toWire(l.server.me))
		}
		l.told, l.tellAll = now, false
	}
	l.branch.Report(r)
}

// Attached reports everything to a new parent.
func (l *leaf) Attached() {
	l.mu.Lock()
	l.tellAll = true
	l.mu.Unlock()
	l.report(0)
}

// Asked answers a question of the parent.
func (l *leaf) Asked(q *pb.Question) { l.report(q.Number) }

// Reported is never called: a server has no children.
func (l *leaf) Reported(uint64, *pb.Report) {}

// Gone does nothing: a server has no children.
func (l *leaf) Gone(uint64) {}

// Say logs a message.
func (l *leaf) Say(text string) { l.server.log.Print(text) }
