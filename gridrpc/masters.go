package gridrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Times of requests to masters.
const (
	scheduleWithin = 2 * time.Second        // for the answer of one master
	nextMaster     = 250 * time.Millisecond // until the next master is asked, too, because one may be stopped
)

// knownFor is the time for which the list of masters in a folder is cached.
const knownFor = time.Second

// addresses returns the masters. A restarted platform has other addresses.
func (c *Client) addresses() ([]string, error) {
	if c.masters != "" {
		return discovery.Split(c.masters), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.found) > 0 && time.Since(c.since) < knownFor {
		return c.found, nil
	}
	list, err := discovery.Masters(c.dir)
	c.found, c.since = list, time.Now()
	return list, err
}

// answer is the reply of a master, or the reason why there is none.
type answer[T any] struct {
	addr  string
	reply T
	err   error
}

// askMasters asks the masters until the root answers. It asks the next master when one has failed
// or is slow. As long as one is slow, perhaps on a lost machine, it asks the failed ones again,
// because one of them may become the root.
func askMasters[T any](ctx context.Context, c *Client, ask func(ctx context.Context, master pb.AgentClient) (T, error)) (none T, err error) {
	list, err := c.addresses()
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list = c.latestFirst(list)
	answers := make(chan answer[T], len(list)) // each master has one request at a time
	failures, silent, again := []error(nil), map[string]bool{}, []string(nil)
	for _, addr := range list {
		silent[addr] = true
	}
	for len(silent) > 0 {
		if len(list) > 0 {
			go askMaster(ctx, c, list[0], ask, answers)
			list = list[1:]
		}
		var late <-chan time.Time
		if len(list) > 0 || len(again) > 0 {
			late = time.After(nextMaster)
		}
		select {
		case <-late:
			if len(list) == 0 {
				list, again = again, nil
			}
		case a := <-answers:
			if a.err == nil {
				c.hasAnswered(a.addr)
				return a.reply, nil
			}
			again = append(again, a.addr)
			if silent[a.addr] {
				failures = append(failures, fmt.Errorf("%s: %w", a.addr, a.err))
			}
			delete(silent, a.addr)
		}
	}
	return none, noMaster(failures)
}

// noMaster is the error of a request that no master has answered, with the reason of each.
type noMaster []error

// away is the reason for the silence of a master that is dead, stopped or cut off.
type away string

// Error returns the reason.
func (a away) Error() string { return string(a) }

// Error returns all reasons in one line.
func (n noMaster) Error() string {
	reasons := make([]string, len(n))
	for i, err := range n {
		reasons[i] = err.Error()
	}
	text := ErrNoMaster.Error() + ": " + strings.Join(reasons, "; ")
	if _, gone := errors.AsType[away](n[0]); gone && len(n) == 1 {
		text += `: it is the only master: "gridrpc up --masters 3" starts three, of which one may be lost`
	}
	return text
}

// Unwrap returns ErrNoMaster and the reasons.
func (n noMaster) Unwrap() []error { return append([]error{ErrNoMaster}, n...) }

// lasts reports whether the same request would fail again.
func (n noMaster) lasts() bool {
	return !slices.ContainsFunc(n, func(err error) bool { return !errors.Is(err, ErrVersion) && !errors.Is(err, ErrDenied) })
}

// Times of Dial.
const (
	dialEach   = 100 * time.Millisecond // from an answer without a root to the next request
	dialWithin = 30 * time.Second       // where the context of Dial has no deadline
)

// awaitMaster asks the masters until one has answered, ctx is done, or the error lasts.
func (c *Client) awaitMaster(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, dialWithin)
		defer cancel()
	}
	var latest error
	for {
		_, err := c.schedule(ctx, &pb.ScheduleRequest{})
		why, unheard := errors.AsType[noMaster](err)
		switch {
		case !unheard || why.lasts():
			return err
		case ctx.Err() == nil || latest == nil: // otherwise this request was cut short, and the earlier error is more precise
			latest = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", latest, context.Cause(ctx))
		case <-time.After(dialEach):
		}
	}
}

// askMaster asks one master.
func askMaster[T any](ctx context.Context, c *Client, addr string, ask func(ctx context.Context, master pb.AgentClient) (T, error), answers chan<- answer[T]) {
	a := answer[T]{addr: addr}
	conn, err := c.conn(addr, link.Master)
	if a.err = err; err == nil {
		one, cancel := context.WithTimeout(ctx, scheduleWithin)
		defer cancel()
		if a.reply, err = ask(one, pb.NewAgentClient(conn)); err != nil {
			conn.ResetConnectBackoff()
			a.err = unanswered(ctx, err)
		}
	}
	answers <- a
}

// unanswered returns in plain words why a master has not answered. ctx is that of the caller.
func unanswered(ctx context.Context, err error) error {
	code, text := status.Code(err), status.Convert(err).Message()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case link.IsSilence(err):
		return away(fmt.Sprintf("no answer within %v", scheduleWithin))
	case link.IsRefusal(err):
		return away(link.Why(err))
	case code == codes.Unimplemented:
		return fmt.Errorf("%w: %s", ErrVersion, text)
	case code == codes.PermissionDenied, code == codes.Unauthenticated, strings.Contains(text, "tls: "), strings.Contains(text, "x509: "):
		return fmt.Errorf("%w: %s", ErrDenied, text)
	}
	return errors.New(link.Why(err))
}

func (c *Client) hasAnswered(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = addr
}

// latestFirst moves the master that answered last to the front, because it may still be the root.
func (c *Client) latestFirst(list []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(list, c.asked)
	if i <= 0 {
		return list
	}
	return slices.Concat(list[i:], list[:i])
}
