package watchserver

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// behindMax is the number of lines that a watcher may be behind. A snapshot counts as one.
const behindMax = 1024

// A client is a watcher with its unread lines.
type client struct {
	conn net.Conn

	mu     sync.Mutex
	more   sync.Cond
	lines  [][]byte
	behind int           // lines, including the lines that are being written
	last   bool          // no more lines are added
	within time.Duration // time limit for the write of the last lines, from the start of that write
}

func newClient(conn net.Conn) *client {
	c := &client{conn: conn}
	c.more.L = &c.mu
	return c
}

// post queues a line without blocking. After behindMax lines it queues the last line, which
// reports that the client was cut off.
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

// end closes the connection after the queued lines. The client has the time within to read them.
// If a write is blocked by the client, the time runs from now. Otherwise the time runs from the
// start of the write, so that a client that reads receives the lines however late this goroutine
// runs.
func (c *client) end(within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.within = true, within
	_ = c.conn.SetWriteDeadline(time.Now().Add(within))
	c.more.Signal()
}

// write writes lines until the last one, or until the client has closed.
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
