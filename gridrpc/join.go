package gridrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// EnvIdentity is the name in the environment of a program of the folder with its identity: it does
// not see that of the platform.
const EnvIdentity = discovery.EnvOwn

// Membership is how a program on a machine that does not see the platform's folder comes into the
// platform: by an identity that is in a folder of its own, and for which "gridrpc token new" makes
// a token, once. The identity is renewed while the program runs. One that did not run for a day
// needs a new token, and has its name back if nobody else has taken it.
type Membership struct {
	Dir   string // folder of the identity; "" is what GRIDRPC_IDENTITY says, else gridrpc/client or gridrpc/server in the user's folder of settings
	Token string // redeemed if there is no identity in Dir yet; "" is none
	Name  string // of this process, if the token is redeemed; "" is one of the machine and its key
}

// As has a client be who a membership says.
func As(m Membership) DialOption { return func(c *Client) { c.member = &m } }

// Enter redeems the token of a membership, unless there is an identity already, for a server or a
// client. It returns the folder of the identity and the name in it. Dial and Main do so themselves.
// What the platform refuses is ErrDenied, with the reason.
func Enter(ctx context.Context, m Membership, server bool) (dir, name string, err error) {
	role := link.Client
	if server {
		role = link.Worker
	}
	id, dir, err := m.enter(ctx, role)
	if err == nil {
		_, name, err = id.Who()
	}
	if err != nil {
		return "", "", &Error{Op: "join", Err: err}
	}
	return dir, name, nil
}

func (m Membership) enter(ctx context.Context, role link.Role) (*link.Identity, string, error) {
	w := join.Wish{Dir: cmp.Or(m.Dir, os.Getenv(EnvIdentity)), Token: m.Token, Name: m.Name, Role: role}
	id, dir, err := join.Enter(ctx, w)
	if join.IsRefusal(err) {
		err = fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return id, dir, err
}

// identify returns who this process is: a member, or a process of the platform whose folder it
// sees; what keeps its certificate fresh until ctx is done, and has it shun who was revoked; and
// the folder.
func identify(ctx context.Context, m *Membership, dir string, role link.Role, name string) (id *link.Identity, fresh func(context.Context, *log.Logger), home string, err error) {
	if m == nil && os.Getenv(EnvIdentity) != "" {
		m = &Membership{}
	}
	if m == nil {
		if id, err = link.Load(dir, name); err != nil {
			return nil, nil, "", err
		}
		return id, func(ctx context.Context, l *log.Logger) {
			go join.ShunRevoked(ctx, dir, id, say(l))
			id.KeepFresh(ctx, id.FromFile(dir, name), say(l))
		}, dir, nil
	}
	if id, home, err = m.enter(ctx, role); err != nil {
		return nil, nil, "", fmt.Errorf("join: %w", err)
	}
	return id, func(ctx context.Context, l *log.Logger) {
		go join.ShunRevokedFar(ctx, home, id, say(l))
		id.KeepFresh(ctx, join.Renewal(id, home), say(l))
	}, home, nil
}

// say returns what prints a line; without a logger nothing does.
func say(l *log.Logger) func(string) {
	if l == nil {
		return func(string) {}
	}
	return func(text string) { l.Print(text) }
}

// listenForMasters has a server of another machine listen at the address from which it reaches a
// master, unless its environment says where.
func listenForMasters(dir string) (string, error) {
	if os.Getenv(discovery.EnvListen) != "" {
		return discovery.ListenAt(), nil
	}
	masters, err := discovery.Masters(dir)
	if err != nil {
		return "", err
	}
	var failures []error
	for _, addr := range masters {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			continue
		}
		here, err := discovery.ReachedFrom(host)
		if err == nil {
			return net.JoinHostPort(here, "0"), nil
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("%w: is the network there? Or say by %s where this server listens", errors.Join(failures...), discovery.EnvListen)
}
