package pmi

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// step is one step of a fake server: wait for a request, which has to come as one write, then
// send pieces, each in a write of its own.
type step struct {
	want string   // the request without its end; "" waits for none
	send []string // as they are; "\n" is not added
	wait time.Duration
}

// answers makes the usual steps: request, answer, request, answer.
func answers(lines ...string) []step {
	var steps []step
	for i := 0; i < len(lines); i += 2 {
		steps = append(steps, step{want: lines[i], send: []string{lines[i+1] + "\n"}})
	}
	return steps
}

// against runs body with a client of a server that performs the steps, and then closes, or hangs.
// All of it is in a bubble of virtual time.
func against(t *testing.T, steps []step, hang bool, body func(t *testing.T, ctx context.Context, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		over := make(chan struct{})
		served := make(chan struct{})
		go func() {
			defer close(served)
			defer there.Close()
			serve(t, there, steps)
			if hang {
				<-over
			}
		}()
		c := New(here)
		body(t, t.Context(), c)
		close(over)
		_ = c.Close()
		<-served
	})
}

func serve(t *testing.T, conn net.Conn, steps []step) {
	buf := make([]byte, 4096)
	for _, s := range steps {
		if s.want != "" {
			n, err := conn.Read(buf)
			if !assert.NoError(t, err, "while waiting for %q", s.want) ||
				!assert.Equal(t, s.want+"\n", string(buf[:n]), "one write with one request") {
				return
			}
		}
		time.Sleep(s.wait)
		for _, piece := range s.send {
			if _, err := conn.Write([]byte(piece)); err != nil {
				return // the client has closed
			}
		}
	}
}

// slowConn calls read after each read, and takes a second to set a deadline in the past.
type slowConn struct {
	net.Conn
	read func()
}

func (c *slowConn) Read(p []byte) (int, error) {
	defer c.read()
	return c.Conn.Read(p)
}

func (c *slowConn) SetDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		time.Sleep(time.Second)
	}
	return c.Conn.SetDeadline(t)
}

// bytesOf cuts a text into single bytes.
func bytesOf(text string) []string { return strings.Split(text, "") }

// told is a connection to a server that sends its whole text at once, whatever the requests are.
type told struct {
	net.Conn
	io.Reader
	asked int // writes
}

func (c *told) Read(p []byte) (int, error)       { return c.Reader.Read(p) }
func (c *told) Write(p []byte) (int, error)      { c.asked++; return len(p), nil }
func (c *told) SetDeadline(time.Time) error      { return nil }
func (c *told) SetWriteDeadline(time.Time) error { return nil }
func (c *told) Close() error                     { return nil }
