package comm

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/goulfm/goulfm/internal/base/logline"
)

// nameMax bounds the bytes of a name.
const nameMax = 64

// Name returns the name of c in errors and diagnoses at this process: "split#2 of world" is the
// result of the second Split of the world, "world#3" that of three repairs (Shrink, Replace) in a
// row, the first one of the world.
func (c *Comm) Name() string { return c.e.Name() }

// SetName sets the name of c in errors and diagnoses at this process and sends no message. A name
// is cut to 64 bytes; "" restores the first name. MPI 7.8.
func (c *Comm) SetName(name string) {
	c.e.SetName(strings.ToValidUTF8(name[:min(len(name), nameMax)], ""))
}

// String returns "split#2 of world: rank 3 of 8".
func (c *Comm) String() string {
	if c == nil {
		return "no communicator"
	}
	return fmt.Sprintf("%s: rank %d of %d", c.Name(), c.Rank(), c.Size())
}

// warnOfMany warns once, at rank 0 of c, that c was made when a member had no block of memory left.
func (c *Comm) warnOfMany() {
	if c.Rank() == 0 && c.e.Blockless() && !c.w.warned.Swap(true) {
		logline.Write(c.w.log, logline.Event{Level: slog.LevelWarn, Name: "too many communicators", Values: []slog.Attr{slog.String("comm", c.Name())}},
			"rank 0 of %s: a member has 64 communicators or more, and only 63 have shared memory: this one and later "+
				"ones use messages, which are several times slower; Free the communicators that are not used", c.Name())
	}
}
