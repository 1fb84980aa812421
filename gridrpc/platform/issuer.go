package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// platformName stands in certificates.
const platformName = "local"

// Times of certificates.
const (
	lifeMin      = 4 * time.Second
	ticks        = 24                   // checks of the clock until a certificate is renewed
	authorityFor = 365 * 24 * time.Hour // left to the authority at the start
)

// issuer writes the certificates of the processes that "up" starts into the platform's folder, and
// renews them.
type issuer struct {
	dir       string
	authority *link.Authority

	mu  sync.Mutex
	all map[string]link.Role // by name
}

// openIssuer returns the issuer of a platform, with the former authority if there was one:
// members of other machines trust that authority, and join again.
func openIssuer(dir string, life, renewAfter time.Duration) (*issuer, error) {
	authority, err := link.OpenAuthority(dir, platformName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: delete authority.pem in %s: machines that have joined need new tokens then", err, dir)
	}
	if err != nil || time.Until(authority.Ends()) < authorityFor {
		if authority, err = link.NewAuthority(platformName); err != nil {
			return nil, err
		}
	}
	authority.Life, authority.RenewAfter = life, renewAfter
	return &issuer{dir: dir, authority: authority, all: map[string]link.Role{}}, authority.Save(dir)
}

// issue writes the certificate of a process into the folder.
func (i *issuer) issue(role link.Role, name string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all[name] = role
	return i.authority.Issue(i.dir, role, name)
}

// keepFresh writes new certificates for all whenever they are to be renewed, until ctx is done.
func (i *issuer) keepFresh(ctx context.Context, say func(format string, args ...any)) {
	last := time.Now().Round(0) // wall clock: timers stop while a machine sleeps
	for each := time.NewTicker(i.authority.RenewalAge() / ticks); ; {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		if time.Since(last) < i.authority.RenewalAge() {
			continue
		}
		if err := i.issueAll(); err != nil {
			say("certificates are not renewed: %v", err)
			continue
		}
		last = time.Now().Round(0)
	}
}

func (i *issuer) issueAll() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	var err error
	for name, role := range i.all {
		err = errors.Join(err, i.authority.Issue(i.dir, role, name))
	}
	return err
}
