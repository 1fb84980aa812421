package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Init opens the session. At a server of PMI_PORT it first receives rank and size.
func (c *Client) Init(ctx context.Context) error {
	if c.id != "" {
		if err := c.initAck(ctx); err != nil {
			return err
		}
	}
	a, err := c.ask(ctx, "init", " pmi_version=1 pmi_subversion=1", "response_to_init", c.Timeout)
	if err != nil {
		return err
	}
	if v, ok := a.value("pmi_version"); ok && v != "1" {
		c.broken = &Error{"init", fmt.Errorf("%w: it speaks version %.20s", ErrProtocol, v), "PMI-1 is what is spoken here: use mpiexec, or srun --mpi=pmi2"}
		return c.broken
	}
	return nil
}

// initAck sends the number of this task. The server answers with one line for each of size, rank
// and debug.
func (c *Client) initAck(ctx context.Context) error {
	const cmd = "initack"
	if err := c.ready(cmd, 0); err != nil {
		return err
	}
	w := c.wait(ctx, c.Timeout)
	err := c.settings("cmd=" + cmd + " pmiid=" + c.id + "\n")
	w.end()
	if err != nil {
		c.broken = w.explain(cmd, err)
		return c.broken
	}
	return nil
}

func (c *Client) settings(request string) error {
	a, err := c.exchange(request, "initack")
	if err != nil {
		return err
	}
	if rc, msg, err := a.refusal(); err != nil || rc != 0 {
		return errors.Join(err, fmt.Errorf("%w: rc=%d %s", ErrRefused, rc, msg))
	}
	all := answer{cmd: "set"}
	for range 3 {
		set, err := c.expect("set")
		if err != nil {
			return err
		}
		all.fields = append(all.fields, set.fields...)
	}
	if c.size, err = all.number("size", 1); err == nil {
		c.rank, err = all.number("rank", 0)
	}
	if err == nil && c.rank >= c.size {
		err = fmt.Errorf("%w: rank %d of %d", ErrProtocol, c.rank, c.size)
	}
	return err
}

// World returns rank and size as the server reported them in Init. Both are Unknown if the
// environment has them.
func (c *Client) World() (rank, size int) { return c.rank, c.size }

// Limits requests the maximum lengths of names and values.
func (c *Client) Limits(ctx context.Context) (Limits, error) {
	const cmd = "get_maxes"
	a, err := c.ask(ctx, cmd, "", "maxes", c.Timeout)
	if err != nil {
		return Limits{}, err
	}
	var l Limits
	for _, f := range []struct {
		key string
		to  *int
	}{{"kvsname_max", &l.KVSName}, {"keylen_max", &l.Key}, {"vallen_max", &l.Value}} {
		if *f.to, err = a.number(f.key, 1); err != nil {
			c.broken = &Error{cmd, err, foreign}
			return Limits{}, c.broken
		}
	}
	c.limits = l
	return l, nil
}

// KVSName requests the name of the key-value space of this job, which Put and Get use.
func (c *Client) KVSName(ctx context.Context) (string, error) {
	const cmd = "get_my_kvsname"
	a, err := c.ask(ctx, cmd, "", "my_kvsname", c.Timeout)
	if err != nil {
		return "", err
	}
	name, _ := a.value("kvsname")
	if !graphic(name) || len(name) >= c.limits.KVSName {
		c.broken = &Error{cmd, fmt.Errorf("%w: kvsname=%.80q", ErrProtocol, name), foreign}
		return "", c.broken
	}
	c.kvs = name
	return name, nil
}

// Put publishes a value for the other tasks, which can get it after the barrier. Key and value
// are visible ASCII without = ; \ (hexadecimal digits, for example), and shorter than Limits; a
// key does not begin with PMI_.
func (c *Client) Put(ctx context.Context, key, value string) error {
	const cmd = "put"
	var why string
	switch {
	case c.kvs == "":
		why = "KVSName comes first"
	case !graphic(key) || strings.HasPrefix(key, "PMI_") || len(key) >= c.limits.Key:
		why = fmt.Sprintf("the key %.80q: visible ASCII without = ; \\ is expected, shorter than %d, not beginning with PMI_", key, c.limits.Key)
	case !graphic(value) || len(value) >= c.limits.Value:
		why = fmt.Sprintf("the value %.80q: visible ASCII without = ; \\ is expected, shorter than %d", value, c.limits.Value)
	}
	if why != "" {
		return &Error{cmd, errors.New(why), "change the program"}
	}
	_, err := c.ask(ctx, cmd, " kvsname="+c.kvs+" key="+key+" value="+value, "put_result", c.Timeout)
	return err
}

// Barrier waits until all tasks of the job are in it. The barrier does not end if a task has
// died, so the context should have a deadline; without a deadline Barrier waits for
// BarrierTimeout.
func (c *Client) Barrier(ctx context.Context) error {
	limit := BarrierTimeout
	if d, ok := ctx.Deadline(); ok {
		limit = max(time.Until(d), 0) + time.Hour // the context ends the wait
	}
	_, err := c.ask(ctx, "barrier_in", "", "barrier_out", limit)
	return err
}

// Get returns the value that a task has put before the barrier. The error about a key without a
// value wraps ErrNoKey.
func (c *Client) Get(ctx context.Context, key string) (string, error) {
	const cmd = "get"
	if c.kvs == "" || !graphic(key) {
		return "", &Error{cmd, fmt.Errorf("the key %.80q of the space %q", key, c.kvs), "change the program: KVSName comes first, and keys are as in Put"}
	}
	a, err := c.ask(ctx, cmd, " kvsname="+c.kvs+" key="+key, "get_result", c.Timeout)
	found, said := a.value("found")
	if errors.Is(err, ErrRefused) || err == nil && said && !strings.EqualFold(found, "true") {
		_, msg, _ := a.refusal()
		return "", &Error{cmd, fmt.Errorf("%w: %s", ErrNoKey, strings.TrimSpace(fmt.Sprintf("%.80s %.80s", key, msg))), "some task has not put it before the barrier"}
	}
	if err != nil {
		return "", err
	}
	value, ok := a.value("value")
	if !ok {
		c.broken = &Error{cmd, fmt.Errorf("%w: get_result without a value", ErrProtocol), foreign}
		return "", c.broken
	}
	return value, nil
}

// Finalize ends the session and closes the connection. From then on the engine does not take the
// end of this process for a failure of the job's start. A server that closes without an answer
// has received the request.
func (c *Client) Finalize(ctx context.Context) error {
	before := c.broken
	_, err := c.ask(ctx, "finalize", "", "finalize_ack", c.Timeout)
	if before == nil && errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if c.broken == nil || err == nil {
		c.broken = errors.New("finalize")
	}
	return errors.Join(err, c.conn.Close())
}

// Abort asks the engine to end all tasks of the job, also this one, with an exit code. Abort may
// be called while another goroutine waits in Barrier. There is no answer: a nil error means only
// that the request was sent.
func (c *Client) Abort(code int, message string) error {
	const most = 200
	text := strings.Map(func(r rune) rune {
		if r < 128 && graphic(string(r)) {
			return r
		}
		return '_'
	}, message[:min(len(message), most)])
	if text == "" {
		text = "abort"
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.Timeout))
	if _, err := fmt.Fprintf(c.conn, "cmd=abort exitcode=%d message=%s\n", code, text); err != nil {
		return &Error{"abort", err, "the engine cannot be reached: end the job by its own command"}
	}
	return nil
}
