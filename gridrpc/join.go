package gridrpc

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// EnvIdentity is the environment variable with the folder of the identity of a program that does
// not see the folder of the platform.
const EnvIdentity = discovery.EnvOwn

// Membership admits a program on a machine that does not see the platform's folder. The program has
// an identity in a folder of its own, for which "gridrpc token new" makes a token once. The
// identity is renewed while the program runs. A program that did not run for a day needs a new
// token, and gets its name again if no other program has taken it.
type Membership struct {
	Dir   string // folder of the identity; "" is what GRIDRPC_IDENTITY says, else gridrpc/client or gridrpc/server in the user's folder of settings
	Token string // redeemed if there is no identity in Dir yet; "": none
	Name  string // of this process, for a redeemed token; "": made from the machine and its key
}

// As gives a client the identity of a membership.
func As(m Membership) DialOption { return func(c *Client) { c.member = &m } }

// Enter redeems the token of a membership for a server or a client, unless there is an identity
// already. It returns the folder of the identity and the name in it. Dial and server.Main call
// Enter themselves. A refusal by the platform is ErrDenied, with the reason.
func Enter(ctx context.Context, m Membership, server bool) (dir, name string, err error) {
	role := link.Client
	if server {
		role = link.Worker
	}
	id, dir, err := join.Admit(ctx, m.wish(role))
	if err == nil {
		_, name, err = id.Subject()
	}
	if err != nil {
		return "", "", &Error{Op: "join", Err: err}
	}
	return dir, name, nil
}

func (m Membership) wish(role link.Role) join.Wish {
	return join.Wish{Dir: m.Dir, Token: m.Token, Name: m.Name, Role: role}
}
