package platform

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Roles of the members that redeem a token.
const (
	RoleServer = token.Server
	RoleClient = token.Client
)

// TokenTerms are the bounds of a new token.
type TokenTerms struct {
	Role  string        // of the members that redeem it: RoleServer or RoleClient
	Uses  int           // machines or programs that may redeem it
	Lasts time.Duration // until it expires
}

// Token describes a token of a platform. Its secret is not known.
type Token struct {
	ID      string
	Role    string
	Uses    int // left
	Until   time.Time
	Revoked bool
	Expired bool
	Members []string // names of the present members that have redeemed it
}

// ErrNoToken is the error of RevokeToken for an ID that no token has.
var ErrNoToken = errors.New("no such token")

func wallNow() mono.Time { return mono.Time(time.Now().UnixNano()) }

// NewToken makes a token of the platform in folder dir. It returns its ID and the text that a
// machine redeems, which is a secret.
func NewToken(dir string, terms TokenTerms) (id, text string, err error) {
	masters, err := discovery.Masters(dir)
	if err != nil {
		return "", "", err
	}
	authority, err := link.OpenAuthority(dir, platformName)
	if err != nil {
		return "", "", fmt.Errorf("%w: tokens are made where the folder of the platform is seen: name it with --dir", err)
	}
	t := token.Token{CA: token.HashOf(authority.Certificate().Raw), Addrs: masters}
	_, _ = rand.Read(t.Secret[:]) // never fails
	if _, err := token.Parse(t.String()); err != nil {
		return "", "", fmt.Errorf("the masters %v: %w", masters, err)
	}
	err = join.Change(dir, func(b *token.Book) (err error) {
		id, err = b.Issue(wallNow(), t.Secret, token.Terms{Role: terms.Role, Uses: terms.Uses, Lasts: mono.Duration(terms.Lasts)})
		return err
	})
	return id, t.String(), err
}

// Tokens returns the tokens of the platform in folder dir.
func Tokens(dir string) ([]Token, error) {
	book, err := join.Read(dir)
	if err != nil {
		return nil, err
	}
	var list []Token
	for _, g := range book.Grants {
		t := Token{ID: g.ID, Role: g.Role, Uses: g.Uses, Until: time.Unix(0, int64(g.Until)), Revoked: g.Revoked, Expired: g.Expired(wallNow())}
		for _, m := range book.Members {
			if m.Grant == g.ID && m.Until > wallNow() {
				t.Members = append(t.Members, m.Name)
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// RevokeToken revokes a token of the platform in folder dir: within seconds all processes of the
// platform close their connections to the members that have redeemed it.
func RevokeToken(dir, id string) error {
	err := join.Change(dir, func(b *token.Book) error { return b.Revoke(wallNow(), id) })
	if errors.Is(err, token.ErrUnknown) {
		return fmt.Errorf("%w: %q", ErrNoToken, id)
	}
	return err
}
