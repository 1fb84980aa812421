package join

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
)

// own is the name of the files of a home's identity, beside ca.pem.
const (
	own     = "identity" // certificate and key
	ownKey  = "key"      // the key, before there is a certificate
	ownLock = "lock"     // held by the server that has this identity
)

// DefaultHome returns the folder of this user's identity in a role.
func DefaultHome(role link.Role) (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no folder for an identity: %w: name one with --identity", err)
	}
	return filepath.Join(dir, "gridrpc", string(role)), nil
}

// Load returns the identity that is in a home.
func Load(dir string) (*link.Identity, error) { return link.Load(dir, own) }

// Wish is the identity that a process requires.
type Wish struct {
	Dir   string    // of the identity; "": DefaultHome
	Token string    // to redeem if there is no valid identity; "": none
	Name  string    // for a redeemed token; "": made from this machine and the key
	Role  link.Role // Client or Worker
}

// Reasons for a missing identity. Each names the remedy.
var (
	ErrNoIdentity = errors.New(`join with --join TOKEN, which "gridrpc token new" prints on a machine of the platform`)
	ErrOtherHome  = errors.New("it has an identity of another platform: name another folder with --identity, or delete this one")
	ErrOtherRole  = errors.New("name another folder with --identity, and join with a token of the right role")
	ErrInUse      = errors.New("another process serves with this identity: end it, or name another folder with --identity, and join with a token")
)

// Enter returns the identity of a process on a machine that does not see the platform's folder, and
// the folder of the identity, which internal/discovery reads as that of a platform. Enter uses the
// identity that is there, or redeems the token.
func Enter(ctx context.Context, w Wish) (id *link.Identity, dir string, err error) {
	dir = w.Dir
	if dir == "" {
		if dir, err = DefaultHome(w.Role); err != nil {
			return nil, "", err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}
	var t token.Token
	if w.Token != "" {
		if t, err = token.Parse(w.Token); err != nil {
			return nil, "", err
		}
	}
	id, err = Load(dir)
	switch {
	case err == nil:
		if err := w.fits(id, t); err != nil {
			return nil, "", fmt.Errorf("%s: %w", dir, err)
		}
		if time.Now().Before(id.Ends()) {
			return id, dir, nil
		}
		if w.Token == "" {
			return nil, "", fmt.Errorf("%s: the certificate has ended at %s: %w", dir, id.Ends().Format(time.DateTime), ErrNoIdentity)
		}
		if _, name, err := id.Subject(); err == nil && w.Name == "" {
			w.Name = name
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, "", err
	case w.Token == "":
		return nil, "", fmt.Errorf("no identity in %s: %w", dir, ErrNoIdentity)
	}
	if err := prepare(dir); err != nil {
		return nil, "", err
	}
	if err := w.redeem(ctx, dir, t); err != nil {
		return nil, "", err
	}
	id, err = Load(dir)
	return id, dir, err
}

// fits returns an error if an existing identity does not fit the wish.
func (w Wish) fits(id *link.Identity, t token.Token) error {
	role, name, err := id.Subject()
	switch {
	case err != nil:
		return err
	case role != w.Role:
		return fmt.Errorf("%s is a %s, not a %s: %w", name, role, w.Role, ErrOtherRole)
	case w.Token != "" && token.HashOf(id.Authority().Raw) != t.CA:
		return ErrOtherHome
	}
	return nil
}

// prepare creates the folder, with access for its owner alone.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: others than its owner may look into it: chmod 700, or name another folder with --identity", dir)
	}
	return err
}

// Occupy locks the identity in a home, so that no other process serves with it until release or the
// end of this process.
func Occupy(dir string) (release func(), err error) {
	lock := flock.New(filepath.Join(dir, ownLock))
	got, err := lock.TryLock()
	if err == nil && !got {
		err = fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	return func() { _ = lock.Unlock() }, err
}

// keyOf returns the key of this machine. It uses an existing key, so that a repeated request is the
// same.
func keyOf(dir string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, ownKey+".der")
	data, err := os.ReadFile(path)
	if err == nil {
		key, err := x509.ParseECPrivateKey(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: delete it, and join with a new token", path, err)
		}
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key, err := link.NewKey()
	if err != nil {
		return nil, err
	}
	if data, err = x509.MarshalECPrivateKey(key); err != nil {
		return nil, err
	}
	return key, os.WriteFile(path, data, 0o600)
}

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// nameOf returns a unique name, made from the machine and the key.
func nameOf(host string, key token.Hash) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	host = notInNames.ReplaceAllString(host, "-")
	return fmt.Sprintf("%.40s-%s", host, hex.EncodeToString(key[:4]))
}

// save writes the reply of a master into the home, the certificate last.
func save(dir string, ca *x509.Certificate, der []byte, key *ecdsa.PrivateKey, masters []string, store string) error {
	err := errors.Join(link.SaveTrust(dir, ca.Raw), discovery.SaveMasters(dir, masters...), discovery.SaveStore(dir, store))
	if err != nil {
		return err
	}
	return link.SaveIdentity(dir, own, der, key)
}

// Renewal returns a function that fetches the next certificate of an identity from a master, and
// stores it in the home.
func Renewal(id *link.Identity, dir string) func(context.Context) (tls.Certificate, error) {
	return func(ctx context.Context) (tls.Certificate, error) {
		if err := renew(ctx, id, dir); err != nil {
			return tls.Certificate{}, err
		}
		return link.LoadPair(dir, own)
	}
}
