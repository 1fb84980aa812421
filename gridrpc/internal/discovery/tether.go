package discovery

import (
	"context"
	"io"
	"os"
	"time"
)

// Kinds of tethers (EnvTether). A process of a platform ends with the process that started it.
const (
	TetherEnds  = "ends"  // its standard input ends then
	TetherBeats = "beats" // or no beat arrives by it: a process on another machine may be cut off from the end
)

// Times of beats. A process that stops for beatSilence loses the processes that it started on other
// machines.
const (
	beatEach    = 5 * time.Second
	beatSilence = time.Minute
)

// beatLooks is the number of checks for beats within beatSilence. A process that stopped itself
// makes one check when it resumes, and receives a beat before the other ones.
const beatLooks = 6

// Beat sends beats to a process on another machine, until a write fails.
func Beat(to io.Writer) {
	each := time.NewTicker(beatEach)
	defer each.Stop()
	for ; ; <-each.C {
		if _, err := to.Write([]byte{'\n'}); err != nil {
			return
		}
	}
}

// Hold returns a context that is also done when the tether of this process ends.
func Hold(ctx context.Context, kind string, from io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{}, 1)
	go func() {
		defer cancel()
		for buf := make([]byte, 64); ; {
			if _, err := from.Read(buf); err != nil {
				return
			}
			select {
			case heard <- struct{}{}:
			default:
			}
		}
	}()
	if kind == TetherBeats {
		go func() { defer cancel(); listen(ctx, heard) }()
	}
	return ctx
}

// exitWithin bounds the time that a process of a platform may take to end.
const exitWithin = 1500 * time.Millisecond

// Tethered returns a context that is also done when the standard input ends, in a process that
// "gridrpc up" has started: no process of a platform outlives the one that started it. On another
// machine the context is done, too, when the standard input has been silent for a minute. After
// that the process has 1.5 s to end; then it exits, because it may wait for a dead process or run a
// program that hangs.
func Tethered(ctx context.Context) context.Context {
	kind := os.Getenv(EnvTether)
	if kind == "" {
		return ctx
	}
	ctx = Hold(ctx, kind, os.Stdin)
	context.AfterFunc(ctx, func() { time.AfterFunc(exitWithin, func() { os.Exit(1) }) })
	return ctx
}

// listen returns after a silence of beatSilence, or when ctx is done.
func listen(ctx context.Context, heard <-chan struct{}) {
	each := time.NewTicker(beatSilence / beatLooks)
	defer each.Stop()
	for silent := 0; silent < beatLooks; {
		select {
		case <-ctx.Done():
			return
		case <-heard:
			silent = 0
		case <-each.C:
			silent++
		}
	}
}
