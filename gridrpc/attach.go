package gridrpc

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// KeptCall is a kept call, from the table of the master.
type KeptCall struct {
	ID      string
	Attempt int
	Server  string
	Service string
	Codec   Codec
	Done    bool // the outcome can be fetched at once
}

// Kept returns all calls that are kept.
func (c *Client) Kept(ctx context.Context) ([]KeptCall, error) {
	reply, err := c.find(ctx, &pb.FindRequest{Fresh: true})
	if err != nil {
		return nil, &Error{Op: "list", Err: err}
	}
	var all []KeptCall
	for _, k := range reply.Calls {
		all = append(all, KeptCall{
			ID: fmt.Sprintf("%x", k.Call), Attempt: int(k.Attempt), Server: k.Server.GetName(), Service: k.Service,
			Codec: Codec(k.Codec), Done: k.Done,
		})
	}
	return all, nil
}

// attachPatience is how long Attach searches for an unknown call after the latest change of the
// tree. Servers that have just found a parent report their kept calls to it.
const attachPatience = 5 * time.Second

// Attach returns a call that was made with Keep by any client, which may have ended. The error is
// ErrGone if no server keeps the call: its time is over, its server was lost, or the call never
// existed. ctx bounds the search alone. The options Watch, Patience, Stall and InCodec apply. The
// loss of the server while a client is attached is ErrServerLost, because no other process has the
// argument.
func Attach[Rep any](ctx context.Context, c *Client, id string, o ...CallOption) (*Session[Rep], error) {
	call, err := session.ParseCallID(id)
	if err != nil {
		return nil, &Error{Op: "attach", Err: err}
	}
	set := settings{tell: func(Event) {}, keep: link.KeepMax}
	for _, option := range o {
		option(&set)
	}
	k, err := c.search(ctx, call, &set)
	if err != nil {
		return nil, &Error{Op: "attach", Err: err}
	}
	if set.codec != "" && set.codec != Codec(k.Codec) {
		return nil, &Error{Op: "attach", Service: k.Service, Err: fmt.Errorf("%w: the call was made in %s, not %s", ErrCodec, k.Codec, set.codec)}
	}
	set.codec = Codec(k.Codec)
	return &Session[Rep]{codec: set.codec, flight: c.adopt(context.WithoutCancel(ctx), k, set)}, nil
}

// adopt attaches to a kept call.
func (c *Client) adopt(ctx context.Context, k *pb.Kept, set settings) *flight {
	set.adopted = true
	f := c.newFlight(ctx, k.Service, session.CallID(k.Call), set)
	server := serverOf(k.Server)
	f.refs[server] = k.Server
	one, cancel := context.WithCancel(context.WithoutCancel(f.ctx))
	f.attempts[k.Attempt] = &line{server: server, ctx: one, cancel: cancel, adopted: true}
	f.toGuard = []*pb.Ref{k.Server}
	c.spawn(func() { f.fly(session.Found{At: f.now(), Server: server, Attempt: k.Attempt}) })
	return f
}

func (c *Client) find(ctx context.Context, m *pb.FindRequest) (*pb.FindReply, error) {
	return askMasters(ctx, c, func(ctx context.Context, master pb.AgentClient) (*pb.FindReply, error) { return master.Find(ctx, m) })
}

// Pauses between two requests for a kept call, doubled.
const (
	searchFirst = 10 * time.Millisecond
	searchLast  = time.Second
)

// search asks the masters for a kept call: first from their tables, then with new reports of all
// servers.
func (c *Client) search(ctx context.Context, id session.CallID, set *settings) (*pb.Kept, error) {
	patience := attachPatience
	if set.rule.Patience > 0 {
		patience = time.Duration(set.rule.Patience)
	}
	begun := time.Now()
	m := &pb.FindRequest{Call: id[:]}
	for pause := searchFirst; ; pause = min(2*pause, searchLast) {
		reply, err := c.find(ctx, m)
		switch {
		case err == nil && len(reply.Calls) > 0 && usable(reply.Calls[0], id):
			return reply.Calls[0], nil
		case err != nil && time.Since(begun) >= patience:
			return nil, err
		case err == nil && m.Fresh && mono.Duration(reply.Quiet*float64(mono.Second)) >= mono.Duration(patience):
			return nil, fmt.Errorf("%w: %s", ErrGone, id.Text())
		}
		m.Fresh = true
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// usable reports whether an answer names a server of the call.
func usable(k *pb.Kept, id session.CallID) bool {
	return string(k.Call) == string(id[:]) && k.Attempt > 0 && k.Server.GetAddr() != ""
}
