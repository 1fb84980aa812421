package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Root asks the masters who the root is.
func Root(ctx context.Context, dir string, id *link.Identity) (*pb.Ref, error) {
	reply, err := RootAndTerm(ctx, dir, id)
	return reply.GetRoot(), err
}

// askAgain is the pause between two questions to a master that is not the root yet.
const askAgain = 100 * time.Millisecond

// answer is what a master has said.
type answer struct {
	reply *pb.RootReply
	err   error
}

// RootAndTerm asks all masters who the root is, and since when. The one that is it says so; others,
// and those that are stopped, are not waited for. While a master says nothing, perhaps because it
// was the root and its machine is lost, the others are asked again: one of them may be about to be
// the root.
func RootAndTerm(ctx context.Context, dir string, id *link.Identity) (*pb.RootReply, error) {
	masters, err := Masters(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	firsts := make(chan answer, len(masters)) // of each master
	later := make(chan answer, len(masters))  // of one that has become the root
	for _, addr := range masters {
		go askMaster(ctx, addr, id, firsts, later)
	}
	var failures []string
	for range masters {
		select {
		case a := <-later:
			return a.reply, nil
		case a := <-firsts:
			if a.err == nil {
				return a.reply, nil
			}
			failures = append(failures, a.err.Error())
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoMaster, strings.Join(failures, "; "))
}

// askMaster asks a master until it is the root, or ctx is done.
func askMaster(ctx context.Context, addr string, id *link.Identity, firsts, later chan<- answer) {
	conn, err := id.Dial(addr, link.Master)
	if err != nil {
		firsts <- answer{nil, fmt.Errorf("%s: %w", addr, err)}
		return
	}
	defer link.HangUp(conn)
	for to := firsts; ctx.Err() == nil; to = later {
		reply, err := pb.NewAgentClient(conn).Root(ctx, &pb.RootRequest{})
		switch {
		case err == nil && reply.Root != nil:
			to <- answer{reply, nil}
			return
		case err == nil:
			err = errors.New("is not the root")
		}
		if to == firsts {
			to <- answer{nil, fmt.Errorf("%s: %s", addr, link.Why(err))}
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}
