package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// Times of commands that ask a platform.
const (
	dialWithin = 10 * time.Second // for a master: an election takes a second or two, the start of an only master about three
	dialNotice = time.Second      // after which a person is told
)

// dial returns a client of the platform. It waits for a master for dialWithin.
func dial(ctx context.Context, o ...gridrpc.DialOption) (*gridrpc.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	notice := time.AfterFunc(dialNotice, func() {
		fmt.Fprintf(os.Stderr, "gridrpc: no master answers yet: it is asked for %v\n", dialWithin)
	})
	defer notice.Stop()
	return gridrpc.Dial(ctx, "", o...)
}

// awaitService waits until a client is told of a server: from now on calls are answered. A
// platform without a server after startWithin may get one later, and a person is told.
func (p *platform) awaitService(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c, err := gridrpc.Dial(ctx, "")
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		offers, _ := c.Offers(ctx) // the next question may be answered
		if len(offers) > 0 {
			return nil
		}
		if !pause(ctx, offersEach) {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				p.say("no server offers a service after %v: does the program register one in gridrpc.Main?", startWithin)
			}
			return nil
		}
	}
}

// offersEach is the pause between two questions for the servers of a platform that starts.
const offersEach = 20 * time.Millisecond
