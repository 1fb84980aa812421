package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// The default time limits of calls.
const (
	RequestTimeout = 30 * time.Second // a node's server may have hundreds of tasks that all begin
	BarrierTimeout = 60 * time.Second // if the context has no deadline
)

// ErrRefused is wrapped by the error of a request that the server has answered with rc other than
// 0. The client can still be used.
var ErrRefused = errors.New("the PMI server refuses")

// ErrNoKey is wrapped by the error of a Get of a key that no task has put before the barrier.
var ErrNoKey = errors.New("no such key")

// Error is the error of every failed call.
type Error struct {
	Command string // the request, such as barrier_in
	Cause   error  // wraps ErrRefused, ErrNoKey, ErrProtocol, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded or the context's
	Remedy  string // advice for the user
}

func (e *Error) Error() string {
	text := fmt.Sprintf("PMI %s: %v", e.Command, e.Cause)
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }

// Client is one end of a connection to a PMI-1 server. One goroutine makes the calls, in the
// order of the package's example; any goroutine may call Abort and Close.
type Client struct {
	Timeout time.Duration // for each request but a barrier

	conn   net.Conn
	lines  lines
	id     string // of a server at PMI_PORT: the number of this task, for initack
	rank   int    // from initack, Unknown before and without
	size   int
	kvs    string // after KVSName
	limits Limits
	broken error // the reason why no further request can be made
}

// Unknown is the rank and the size that the server has not reported.
const Unknown = -1

// Limits are the maximum lengths of names and values, in bytes, with the zero byte that a C
// program needs at their end.
type Limits struct{ KVSName, Key, Value int }

// New makes a client of a connection to a server. The client owns the connection from then on.
func New(conn net.Conn) *Client {
	return &Client{
		Timeout: RequestTimeout,
		conn:    conn,
		lines:   lines{from: conn},
		rank:    Unknown,
		size:    Unknown,
		limits:  Limits{KVSName: 256, Key: 64, Value: 1024}, // of all servers that are known
	}
}

// Close ends the connection. Without a Finalize before, hydra takes the end for a death.
func (c *Client) Close() error { return c.conn.Close() }

// ask sends a request and returns the answer, which has to be named want and to have rc=0. It
// waits for at most limit, and until the context ends.
func (c *Client) ask(ctx context.Context, cmd, args, want string, limit time.Duration) (answer, error) {
	if err := c.ready(cmd, len("cmd=")+len(cmd)+len(args)); err != nil {
		return answer{}, err
	}
	w := c.wait(ctx, limit)
	a, err := c.exchange("cmd="+cmd+args+"\n", want)
	w.end()
	if err != nil {
		c.broken = w.explain(cmd, err)
		return answer{}, c.broken
	}
	rc, msg, err := a.refusal()
	switch {
	case err != nil:
		c.broken = &Error{cmd, err, foreign}
		return answer{}, c.broken
	case rc != 0:
		return a, &Error{cmd, fmt.Errorf("%w: rc=%d %s", ErrRefused, rc, msg), ""}
	}
	return a, nil
}

// foreign is the remedy if the other end is no PMI-1 server.
const foreign = "is PMI_FD or PMI_PORT set by hand, or by something else than mpiexec or srun --mpi=pmi2?"

// ready returns an error if no request can be made.
func (c *Client) ready(cmd string, length int) error {
	switch extra := c.lines.pending(); {
	case c.broken != nil:
		return &Error{cmd, fmt.Errorf("not asked, after: %w", c.broken), ""}
	case extra != "":
		c.broken = &Error{cmd, fmt.Errorf("%w: %.80q, which nobody has asked for", ErrProtocol, extra), foreign}
		return c.broken
	case length > LineMax:
		return &Error{cmd, fmt.Errorf("a request of %d bytes, and servers take %d", length, LineMax), "shorten key and value"}
	}
	return nil
}

// exchange writes a request and reads the answer.
func (c *Client) exchange(request, want string) (answer, error) {
	if _, err := c.conn.Write([]byte(request)); err != nil {
		return answer{}, err
	}
	return c.expect(want)
}

// expect reads a line with that name.
func (c *Client) expect(want string) (answer, error) {
	line, err := c.lines.next()
	if err != nil {
		return answer{}, err
	}
	a, err := parse(line)
	if err == nil && a.cmd != want {
		err = fmt.Errorf("%w: %.80q instead of cmd=%s", ErrProtocol, line, want)
	}
	return a, err
}

// waiting is the time limit of one request.
type waiting struct {
	ctx   context.Context
	limit time.Duration
	end   func()
}

// wait lets reads and writes fail once limit is over or the context ends. The caller must call
// end of the waiting before another request: a late cancellation would hit the next request.
func (c *Client) wait(ctx context.Context, limit time.Duration) waiting {
	w := waiting{ctx: ctx, limit: limit}
	_ = c.conn.SetDeadline(time.Now().Add(limit))
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetDeadline(time.Unix(1, 0))
		close(done)
	})
	w.end = func() {
		if !stop() {
			<-done
		}
	}
	return w
}

// explain returns the error about a failed exchange, with its cause and remedy.
func (w *waiting) explain(cmd string, err error) error {
	switch {
	case w.ctx.Err() != nil:
		return &Error{cmd, fmt.Errorf("given up: %w", context.Cause(w.ctx)), late(cmd)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{cmd, fmt.Errorf("no answer within %v: %w", w.limit, os.ErrDeadlineExceeded), late(cmd)}
	case errors.Is(err, ErrProtocol):
		return &Error{cmd, err, foreign}
	case errors.Is(err, io.EOF), gone(err):
		return &Error{cmd, fmt.Errorf("the server has closed the connection (%w): %w", err, io.ErrUnexpectedEOF),
			"either the engine ends the job, or an earlier program of this task has used PMI: start each program with an mpiexec or srun of its own"}
	}
	return &Error{cmd, err, "the engine's own messages may say more"}
}

// late returns the remedy for an answer that does not come.
func late(cmd string) string {
	if cmd == "barrier_in" {
		return "the PMI server (hydra_pmi_proxy, slurmstepd) has not ended its barrier: it hangs, or some task of the job has not come or has died, whose output says why"
	}
	return "the engine's process on this node (hydra_pmi_proxy, slurmstepd) does not answer; start the job again"
}
