package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Times of a root.
const (
	reignEach  = time.Second // between two checks of the root
	closeLinks = time.Second // for children to learn of a deposition
)

// reign checks each reignEach whether another process is the root: this one may have been stopped
// or cut off while another one was started. reign returns true once this root is deposed and its
// links are closed, and false when ctx is done.
func (a *Agent) reign(ctx context.Context, oracle func(context.Context) (*pb.RootReply, error)) bool {
	for each := time.NewTicker(reignEach); ; {
		select {
		case <-ctx.Done():
			return false
		case <-each.C:
		}
		one, cancel := context.WithTimeout(ctx, reignEach)
		reply, err := oracle(one)
		cancel()
		if err != nil || reply.Term <= a.term {
			continue
		}
		a.Say(fmt.Sprintf("is deposed: %s at %s is the root, of term %d", reply.Root.GetName(), reply.Root.GetAddr(), reply.Term))
		a.letGo(reply.Term)
		return true
	}
}

// letGo makes the children of a deposed root search for the root of that term, and waits up to
// closeLinks until they have left.
func (a *Agent) letGo(term uint64) {
	a.branch.Depose(term)
	for end := time.Now().Add(closeLinks); a.branch.Links() > 0 && time.Now().Before(end); {
		time.Sleep(closeLinks / 100)
	}
}
