package discovery

import (
	"context"
	"io"
	"os"
	"time"
)

// Kinds of tethers (EnvTether): a process of a platform ends when the one that has started it does.
const (
	TetherEnds  = "ends"  // its standard input ends then
	TetherBeats = "beats" // or nothing comes by it any more: a process on another machine may be cut off, and would not hear of an end
)

// Times of beats. Who stands still for beatSilence loses all that it has started elsewhere.
const (
	beatEach    = 5 * time.Second
	beatSilence = time.Minute
)

// beatLooks is how often in beatSilence a process looks whether anything has come: one that has
// stood still itself looks once when it goes on, and has heard something before it has looked so
// often.
const beatLooks = 6

// Beat tells a process on another machine that this one lives, until nobody takes it any more.
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

// exitWithin is how long a process of a platform may take to end.
const exitWithin = 1500 * time.Millisecond

// Tethered returns a context that is also done when the standard input ends, in a process that
// "gridrpc up" has started: no process of a platform outlives the one that started it. On another
// machine the context is done, too, when nothing has come by the standard input for a minute. When
// the context is done the process has 1.5 s to end, then it exits: it may wait for a process that
// is dead or stopped, or run a program that hangs.
func Tethered(ctx context.Context) context.Context {
	kind := os.Getenv(EnvTether)
	if kind == "" {
		return ctx
	}
	ctx = Hold(ctx, kind, os.Stdin)
	context.AfterFunc(ctx, func() { time.AfterFunc(exitWithin, func() { os.Exit(1) }) })
	return ctx
}

// listen returns when nothing was heard for beatSilence, or ctx is done.
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
