package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// ErrNotYet reports that there is no newer certificate yet.
var ErrNotYet = errors.New("no newer certificate is there yet")

// Times of renewals.
const (
	tries    = 48               // attempts within a lifetime, at least, while there is no new certificate
	tryEach  = 20 * time.Second // between two attempts, at most
	lookEach = 10 * time.Minute // between two checks of the clock: timers stop while a machine sleeps
	fileEach = time.Second      // between two checks of the file for a certificate that is due
)

// KeepFresh renews the certificate after each half of its lifetime, until ctx is done. fetch
// returns a new certificate or ErrNotYet, and say prints a line. Connections stay open.
func (id *Identity) KeepFresh(ctx context.Context, fetch func(ctx context.Context) (tls.Certificate, error), say func(text string)) {
	failing := false
	for at := id.renewAt(); sleepUntil(ctx, at); {
		cert, err := fetch(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && cert.Leaf.NotAfter.After(id.Ends()):
			id.cert.Store(&cert)
			at, failing = id.renewAt(), false
			say("its certificate is renewed, until " + id.Ends().Format(time.DateTime))
			continue
		case err != nil && !errors.Is(err, ErrNotYet) && !failing:
			failing = true
			say(fmt.Sprintf("its certificate, which ends at %s, is not renewed yet: %v", id.Ends().Format(time.DateTime), err))
		}
		at = time.Now().Add(min(id.life()/tries, tryEach))
	}
}

// FromFile returns a function that fetches the certificate which "gridrpc up" writes into folder
// dir for this process. It waits for a newer one.
func (id *Identity) FromFile(dir, name string) func(context.Context) (tls.Certificate, error) {
	return func(ctx context.Context) (tls.Certificate, error) {
		for {
			cert, err := LoadPair(dir, name)
			if err != nil || cert.Leaf.NotAfter.After(id.Ends()) {
				return cert, err
			}
			if !sleepUntil(ctx, time.Now().Add(fileEach)) {
				return cert, ctx.Err()
			}
		}
	}
}

// life returns the lifetime of the certificate.
func (id *Identity) life() time.Duration {
	leaf := id.cert.Load().Leaf
	return leaf.NotAfter.Sub(leaf.NotBefore.Add(skew))
}

func (id *Identity) renewAt() time.Time {
	ends := id.Ends()
	at := token.RenewAt(mono.Time(ends.Add(-id.life()).UnixNano()), mono.Time(ends.UnixNano()))
	return time.Unix(0, int64(at))
}

// sleepUntil waits until a time of the wall clock. It returns false if ctx is done before.
func sleepUntil(ctx context.Context, at time.Time) bool {
	for {
		left := time.Until(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(left, lookEach)):
		}
	}
}
