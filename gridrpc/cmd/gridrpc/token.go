package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/platform"
)

// joinFlags adds the flags of commands that join a machine to a platform.
func joinFlags(f *flag.FlagSet) (join, name *string) {
	return f.String("join", "", "`TOKEN` that gives this machine an identity; it does not see the platform's folder"),
		f.String("name", "", "`NAME` of this process in the platform, if the token is redeemed")
}

func newToken(_ context.Context, args []string) error {
	f := flags("token new")
	uses := f.Int("uses", 1, "`N` machines or programs may redeem it")
	lasts := f.Duration("for", time.Hour, "it expires after this time")
	role := f.String("role", platform.RoleServer, "`ROLE` of a member that redeems it: server or client")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	id, text, err := platform.NewToken(gridrpc.DefaultDir(), platform.TokenTerms{Role: *role, Uses: *uses, Lasts: *lasts})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "token %s, for the role %s, good %d times within %v; it is a secret\n", id, *role, *uses, *lasts)
	fmt.Println(text)
	return nil
}

func listTokens(_ context.Context, args []string) error {
	f := flags("token ls")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	all, err := platform.Tokens(gridrpc.DefaultDir())
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOKEN\tROLE\tUSES LEFT\tUNTIL\tSTATE\tCAME BY IT")
	for _, t := range all {
		state := "good"
		switch {
		case t.Revoked:
			state = "revoked"
		case t.Expired:
			state = "expired"
		case t.Uses == 0:
			state = "used up"
		}
		came := ""
		for _, name := range t.Members {
			came += " " + name
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", t.ID, t.Role, t.Uses, t.Until.Format(time.DateTime), state, came)
	}
	return w.Flush()
}

func revokeToken(_ context.Context, args []string) error {
	f := flags("token revoke")
	if err := parse(f, args, 1, 1); err != nil {
		return err
	}
	err := platform.RevokeToken(gridrpc.DefaultDir(), f.Arg(0))
	if errors.Is(err, platform.ErrNoToken) {
		return fmt.Errorf("no token %q: \"gridrpc token ls\" lists them", f.Arg(0))
	}
	return err
}
