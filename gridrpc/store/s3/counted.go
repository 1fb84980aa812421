package s3

import (
	"context"
	"fmt"
	"io"
)

// counted is a reader that ends with its context. If there are more or fewer bytes than announced,
// it fails before it returns the last one, because the service would otherwise make an object of
// them.
type counted struct {
	ctx    context.Context
	from   io.Reader
	size   int64 // -1: not announced
	given  int64
	spare  [1]byte // the byte after the returned ones; if held
	held   bool
	failed error
}

// Read keeps one byte back until it is known that no other byte follows.
func (c *counted) Read(p []byte) (int, error) {
	if c.failed != nil {
		return 0, c.failed
	}
	if err := c.ctx.Err(); err != nil {
		return 0, c.fail(context.Cause(c.ctx))
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.from.Read(p)
	if n > 0 {
		n = c.shift(p, n)
		c.given += int64(n)
	}
	switch {
	case err == io.EOF:
		return c.end(p, n)
	case err != nil:
		return 0, c.fail(err)
	case c.size >= 0 && c.given+1 > c.size:
		return 0, c.fail(fmt.Errorf("s3: more than the %d bytes that were announced", c.size))
	}
	return n, nil
}

// shift puts the byte that was kept back before the n bytes in p, keeps the last one back, and
// returns the number of bytes in p.
func (c *counted) shift(p []byte, n int) int {
	last := p[n-1]
	if !c.held {
		c.held, c.spare[0] = true, last
		return n - 1
	}
	copy(p[1:n], p[:n-1])
	p[0], c.spare[0] = c.spare[0], last
	return n
}

// end returns the byte that was kept back, if the number of bytes is right.
func (c *counted) end(p []byte, n int) (int, error) {
	all := c.given
	if c.held {
		all++
	}
	if c.size >= 0 && all != c.size {
		return 0, c.fail(fmt.Errorf("s3: %d bytes, and %d were announced", all, c.size))
	}
	if c.held && n < len(p) {
		p[n] = c.spare[0]
		n++
		c.held, c.given = false, c.given+1
	}
	if c.held { // there is no room: the next Read returns it
		c.from = eof{}
		return n, nil
	}
	return n, io.EOF
}

// eof is a reader without bytes.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

func (c *counted) fail(err error) error {
	c.failed = err
	return err
}
