package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// joinFlags are those of commands by which a machine comes into a platform.
func joinFlags(f *flag.FlagSet) (join, name *string) {
	return f.String("join", "", "`TOKEN` that gives this machine an identity; it does not see the platform's folder"),
		f.String("name", "", "`NAME` of this process in the platform, if the token is redeemed")
}

func wallNow() mono.Time { return mono.Time(time.Now().UnixNano()) }

func newToken(_ context.Context, args []string) error {
	f := flags("token new")
	uses := f.Int("uses", 1, "`N` machines or programs may redeem it")
	lasts := f.Duration("for", time.Hour, "it expires after this time")
	role := f.String("role", token.Server, "`ROLE` of a member that redeems it: server or client")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	dir := gridrpc.DefaultDir()
	masters, err := discovery.Masters(dir)
	if err != nil {
		return err
	}
	authority, err := link.OpenAuthority(dir, platformName)
	if err != nil {
		return fmt.Errorf("%w: tokens are made where the folder of the platform is seen: name it with --dir", err)
	}
	t := token.Token{CA: token.HashOf(authority.Certificate().Raw), Addrs: masters}
	_, _ = rand.Read(t.Secret[:]) // never fails
	if _, err := token.Parse(t.String()); err != nil {
		return fmt.Errorf("the masters %v: %w", masters, err)
	}
	var id string
	err = join.Change(dir, func(b *token.Book) (err error) {
		id, err = b.Issue(wallNow(), t.Secret, token.Terms{Role: *role, Uses: *uses, Lasts: mono.Duration(*lasts)})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "token %s, for the role %s, good %d times within %v; it is a secret\n", id, *role, *uses, *lasts)
	fmt.Println(t)
	return nil
}

func listTokens(_ context.Context, args []string) error {
	f := flags("token ls")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	book, err := join.Read(gridrpc.DefaultDir())
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOKEN\tROLE\tUSES LEFT\tUNTIL\tSTATE\tCAME BY IT")
	for _, g := range book.Grants {
		state := "good"
		switch {
		case g.Revoked:
			state = "revoked"
		case g.Expired(wallNow()):
			state = "expired"
		case g.Uses == 0:
			state = "used up"
		}
		came := ""
		for _, m := range book.Members {
			if m.Grant == g.ID && m.Until > wallNow() {
				came += " " + m.Name
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", g.ID, g.Role, g.Uses, time.Unix(0, int64(g.Until)).Format(time.DateTime), state, came)
	}
	return w.Flush()
}

func revokeToken(_ context.Context, args []string) error {
	f := flags("token revoke")
	if err := parse(f, args, 1, 1); err != nil {
		return err
	}
	err := join.Change(gridrpc.DefaultDir(), func(b *token.Book) error { return b.Revoke(wallNow(), f.Arg(0)) })
	if errors.Is(err, token.ErrUnknown) {
		return fmt.Errorf("no token %q: \"gridrpc token ls\" lists them", f.Arg(0))
	}
	return err
}
