package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Times of a root.
const (
	reignEach  = time.Second // from one look at who is the root to the next
	closeLinks = time.Second // for children to hear of a deposition
)

// reign looks again and again whether this root is still the one: it may have been stopped, or cut
// off, and another one started. It returns true once that is so and the links are closed, false
// when ctx is done.
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

// letGo has the children of a root that is none any more look for the one of that term, and gives
// them some time to.
func (a *Agent) letGo(term uint64) {
	a.branch.Depose(term)
	for end := time.Now().Add(closeLinks); a.branch.Links() > 0 && time.Now().Before(end); {
		time.Sleep(closeLinks / 100)
	}
}
