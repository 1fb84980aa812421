package comm

import (
	"fmt"
	"os"
	"strings"
)

// nameMax bounds the bytes of a name.
const nameMax = 64

// Name returns what errors and diagnoses call c at this process: "split#2 of world" is the
// second that Split made of the world, "world#3" what the third Shrink left of it.
func (c *Comm) Name() string { return c.e.Name() }

// SetName has errors and diagnoses call c by a name of the program, at this process; it
// sends nothing. Of a long one 64 bytes are taken; "" gives back the first name. MPI 7.8.
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

// warnOfMany says once, at rank 0 of c, that c was made when a member had no block of
// memory left.
func (c *Comm) warnOfMany() {
	if c.Rank() == 0 && c.e.Blockless() && !c.w.warned.Swap(true) {
		fmt.Fprintf(os.Stderr, "goulfm: rank 0 of %s: a member has 64 communicators or more, and only 63 have shared memory: this one and later "+
			"ones use messages, which are several times slower; Free the communicators that are not used\n", c.Name())
	}
}
