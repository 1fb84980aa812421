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

// Root asks the masters for the root.
func Root(ctx context.Context, dir string, id *link.Identity) (*pb.Ref, error) {
	reply, err := RootAndTerm(ctx, dir, id)
	return reply.GetRoot(), err
}

// askAgain is the pause between two requests to a master that is not the root yet.
const askAgain = 100 * time.Millisecond

// answer is the reply of a master.
type answer struct {
	reply *pb.RootReply
	err   error
}

// RootAndTerm asks all masters for the root and its term. It returns the answer of the root without
// a wait for the others, which may be stopped. While a master does not answer, the others are asked
// again: the silent one may have been the root on a lost machine, and another one may become it.
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
