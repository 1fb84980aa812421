package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// Times of commands that ask a platform.
const (
	dialWithin = 10 * time.Second // for a master: an election takes a second or two, the start of an only master about three
	dialNotice = time.Second      // until the wait is reported
)

// dial returns a client of the platform, and waits for a master for dialWithin.
func dial(ctx context.Context, o ...gridrpc.DialOption) (*gridrpc.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	notice := time.AfterFunc(dialNotice, func() {
		fmt.Fprintf(os.Stderr, "gridrpc: no master answers yet: it is asked for %v\n", dialWithin)
	})
	defer notice.Stop()
	return gridrpc.Dial(ctx, "", o...)
}
