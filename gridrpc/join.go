package gridrpc

import (
	"context"

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
// client. It returns the folder of the identity and the name in it. Dial and server.Main call Enter
// themselves.
// What the platform refuses is ErrDenied, with the reason.
func Enter(ctx context.Context, m Membership, server bool) (dir, name string, err error) {
	role := link.Client
	if server {
		role = link.Worker
	}
	id, dir, err := join.Admit(ctx, m.wish(role))
	if err == nil {
		_, name, err = id.Who()
	}
	if err != nil {
		return "", "", &Error{Op: "join", Err: err}
	}
	return dir, name, nil
}

func (m Membership) wish(role link.Role) join.Wish {
	return join.Wish{Dir: m.Dir, Token: m.Token, Name: m.Name, Role: role}
}
