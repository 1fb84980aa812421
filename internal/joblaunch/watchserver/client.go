package watchserver

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// behindMax is how many lines a watcher may be behind. A snapshot counts as one.
const behindMax = 1024

// A client is a watcher, and what it has not read yet.
type client struct {
	conn net.Conn

	mu     sync.Mutex
	more   sync.Cond
	lines  [][]byte
	behind int           // lines, with those that are being written
	last   bool          // no line is added any more
	within time.Duration // what the client has for the last ones, once they are being written
}

func newClient(conn net.Conn) *client {
	c := &client{conn: conn}
	c.more.L = &c.mu
	return c
}

// post adds a line, without a wait. After too many comes the last one, which says so.
func (c *client) post(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last {
		return
	}
	if c.last = c.behind >= behindMax; c.last {
		line = encode(word(cut, fmt.Sprintf("more than %d events were not read: read them sooner, or open it again for a new snapshot", behindMax)))
	}
	c.lines = append(c.lines, line)
	c.behind++
	c.more.Signal()
}

// end has the connection closed after the lines that are there, for which the client has so much
// time: from now, if it holds up what is being written, and else from when they are written, so
// that one that reads has them however late this goroutine runs.
func (c *client) end(within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.within = true, within
	_ = c.conn.SetWriteDeadline(time.Now().Add(within))
	c.more.Signal()
}

// write writes lines until the last one, or until nobody is there to read.
func (c *client) write() {
	for {
		lines, ok := c.take()
		if !ok {
			return
		}
		n := len(lines)
		if _, err := (*net.Buffers)(&lines).WriteTo(c.conn); err != nil {
			c.end(0)
			return
		}
		c.mu.Lock()
		c.behind -= n
		c.mu.Unlock()
	}
}

// take waits for lines; false: none will come.
func (c *client) take() (lines [][]byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.lines) == 0 && !c.last {
		c.more.Wait()
	}
	lines, c.lines = c.lines, nil
	if c.within > 0 {
		_ = c.conn.SetWriteDeadline(time.Now().Add(c.within))
	}
	return lines, len(lines) > 0
}
