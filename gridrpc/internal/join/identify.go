package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// ErrDenied is an error of a platform that refuses a process.
var ErrDenied = errors.New("denied")

// Admit calls Enter, with the folder that the environment names where w names none. A refusal of
// the platform is ErrDenied, with the reason.
func Admit(ctx context.Context, w Wish) (*link.Identity, string, error) {
	w.Dir = cmp.Or(w.Dir, os.Getenv(discovery.EnvOwn))
	id, dir, err := Enter(ctx, w)
	if IsRefusal(err) {
		err = fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return id, dir, err
}

// Process is the identity of this process.
type Process struct {
	Identity *link.Identity
	Dir      string // the folder of the platform, or that of the identity

	fresh func(context.Context, *log.Logger)
}

// KeepFresh keeps the certificate fresh and shuns revoked members, until ctx is done. A nil logger
// discards messages.
func (p Process) KeepFresh(ctx context.Context, l *log.Logger) { p.fresh(ctx, l) }

// Identify returns the identity of this process: of a member, if w is not nil or the environment
// names the folder of an identity; else of the process with this name and role whose platform is in
// folder dir.
func Identify(ctx context.Context, w *Wish, dir string, role link.Role, name string) (p Process, err error) {
	if w == nil && os.Getenv(discovery.EnvOwn) != "" {
		w = &Wish{}
	}
	if w == nil {
		id, err := link.Load(dir, name)
		if err != nil {
			return Process{}, err
		}
		return Process{id, dir, func(ctx context.Context, l *log.Logger) {
			go ShunRevoked(ctx, dir, id, printTo(l))
			id.KeepFresh(ctx, id.FromFile(dir, name), printTo(l))
		}}, nil
	}
	wish := *w
	wish.Role = role
	id, home, err := Admit(ctx, wish)
	if err != nil {
		return Process{}, fmt.Errorf("join: %w", err)
	}
	return Process{id, home, func(ctx context.Context, l *log.Logger) {
		go ShunRevokedFar(ctx, home, id, printTo(l))
		id.KeepFresh(ctx, Renewal(id, home), printTo(l))
	}}, nil
}

// printTo returns a function that prints a line; without a logger it does nothing.
func printTo(l *log.Logger) func(string) {
	if l == nil {
		return func(string) {}
	}
	return func(text string) { l.Print(text) }
}
