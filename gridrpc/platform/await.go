package platform

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// awaitService waits until a client finds a server: calls are answered from then on. A platform
// may have no server after startWithin; awaitService reports that, and a server may start later.
func (p *platform) awaitService(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c, err := gridrpc.Dial(ctx, "")
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		offers, _ := c.Offers(ctx) // the next request may be answered
		if len(offers) > 0 {
			return nil
		}
		if !pause(ctx, offersEach) {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				p.say("no server offers a service after %v: does the program register one in server.Main?", startWithin)
			}
			return nil
		}
	}
}

// offersEach is the pause between two requests for the servers of a new platform.
const offersEach = 20 * time.Millisecond
