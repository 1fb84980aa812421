package token

import (
	"encoding/hex"
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// The roles that a token can give, as certificates have them.
const (
	Client = "client"
	Server = "server"
)

// Grant is the platform's record of a token.
type Grant struct {
	ID      string // the name of the token; not a secret
	Secret  Hash
	Role    string
	Uses    int // the remaining uses
	Until   mono.Time
	Revoked bool `json:",omitempty"`
}

// Member is a machine, or a program, that was admitted by a token.
type Member struct {
	Name  string
	Role  string
	Key   Hash      // of its public key
	Grant string    // ID of the token that admitted it
	Until mono.Time // end of its latest certificate
}

// Book is the persistent state of the masters: all tokens and their members.
type Book struct {
	Grants  []Grant
	Members []Member
}

// Reasons against a new token, a redemption or a renewal. Each names the remedy.
var (
	ErrTerms     = errors.New("a token is for the role client or server, has 1 use at least and 100000 at most, and lasts from a second to a year")
	ErrFull      = errors.New("4096 tokens are known: revoke some, or wait until they have ended")
	ErrUnknown   = errors.New(`the platform does not know this token: it ended long ago, or is of a platform that was here before: make a new one with "gridrpc token new"`)
	ErrExpired   = errors.New(`this token has expired: make a new one with "gridrpc token new", one that lasts longer with --for`)
	ErrUsedUp    = errors.New(`this token is used up: make a new one with "gridrpc token new", for several machines with --uses`)
	ErrRevoked   = errors.New("this token was revoked: ask who runs the platform for a new one")
	ErrRole      = errors.New(`this token is for another role: make one with "gridrpc token new --role client" for "call", with "--role server" for "serve"`)
	ErrNameTaken = errors.New("this name is taken: choose another one with --name")
	ErrNoMember  = errors.New("the platform does not know this identity, or its certificate has ended: join once more, with a new token")
)

// Bounds of a book.
const (
	grantsMax = 4096
	usesMax   = 100_000
	day       = 24 * 3600 * mono.Second
	lastsMax  = 366 * day
)

// Terms are the role, the number of uses and the lifetime of a new token.
type Terms struct {
	Role  string
	Uses  int
	Lasts mono.Duration
}

// Issue records a token with this secret, and returns its ID.
func (b *Book) Issue(now mono.Time, secret Secret, t Terms) (id string, err error) {
	b.forget(now)
	switch {
	case t.Role != Client && t.Role != Server, t.Uses < 1, t.Uses > usesMax, t.Lasts < mono.Second, t.Lasts > lastsMax:
		return "", ErrTerms
	case len(b.Grants) >= grantsMax:
		return "", ErrFull
	}
	hash := secret.Hash()
	id = hex.EncodeToString(hash[:6])
	b.Grants = append(b.Grants, Grant{ID: id, Secret: hash, Role: t.Role, Uses: t.Uses, Until: now.Add(t.Lasts)})
	return id, nil
}

// Revoke ends a token, also for the members that it admitted (J4).
func (b *Book) Revoke(now mono.Time, id string) error {
	b.forget(now)
	g := b.grant(id)
	if g == nil {
		return ErrUnknown
	}
	g.Revoked = true
	return nil
}

// Revoked returns the keys of members that a revoked token admitted, and that have a valid
// certificate (J7).
func (b *Book) Revoked(now mono.Time) (keys []Hash) {
	good := map[Hash]bool{} // admitted by another token
	for _, m := range b.Members {
		if g := b.grant(m.Grant); g != nil && !g.Revoked {
			good[m.Key] = true
		}
	}
	for _, m := range b.Members {
		if now < m.Until && !good[m.Key] {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// Expired reports whether a token has ended.
func (g Grant) Expired(now mono.Time) bool { return now >= g.Until }

// Ask is the request for a certificate.
type Ask struct {
	Name string
	Role string // the role that the certificate must have
	Key  Hash   // of the public key
	Own  bool   // the name is that of a process of the platform itself
}

// Redeem uses a token once, and returns the new member, whose certificate is valid for life.
func (b *Book) Redeem(now mono.Time, secret Secret, a Ask, life mono.Duration) (Member, error) {
	b.forget(now)
	hash := secret.Hash()
	at := slices.IndexFunc(b.Grants, func(g Grant) bool { return g.Secret == hash })
	if at < 0 {
		return Member{}, ErrUnknown
	}
	g, holder := &b.Grants[at], b.member(a.Name)
	again := holder != nil && holder.Key == a.Key && holder.Grant == g.ID
	switch {
	case g.Revoked:
		return Member{}, ErrRevoked
	case g.Expired(now):
		return Member{}, ErrExpired
	case a.Role != g.Role:
		return Member{}, ErrRole
	case a.Own || holder != nil && holder.Key != a.Key:
		return Member{}, ErrNameTaken
	case g.Uses == 0 && !again:
		return Member{}, ErrUsedUp
	}
	if !again {
		g.Uses--
	}
	m := Member{Name: a.Name, Role: g.Role, Key: a.Key, Grant: g.ID, Until: now.Add(life)}
	if holder != nil {
		*holder = m
	} else {
		b.Members = append(b.Members, m)
	}
	return m, nil
}

// Renew extends a membership by a certificate that is valid for life.
func (b *Book) Renew(now mono.Time, a Ask, life mono.Duration) (Member, error) {
	b.forget(now)
	m := b.member(a.Name)
	if m == nil || m.Key != a.Key || m.Role != a.Role {
		return Member{}, ErrNoMember
	}
	if g := b.grant(m.Grant); g == nil || g.Revoked {
		return Member{}, ErrRevoked
	}
	m.Until = now.Add(life)
	return *m, nil
}

// RenewAt returns the time from which a certificate is renewed, from the times of its creation and
// of its end (J5).
func RenewAt(made, until mono.Time) mono.Time { return made.Add(until.Sub(made) / 2) }

// forget drops members and tokens that no request can refer to any more (J3, J6).
func (b *Book) forget(now mono.Time) {
	b.Members = slices.DeleteFunc(b.Members, func(m Member) bool { return now >= m.Until })
	b.Grants = slices.DeleteFunc(b.Grants, func(g Grant) bool {
		lives := slices.ContainsFunc(b.Members, func(m Member) bool { return m.Grant == g.ID })
		return !lives && now >= g.Until.Add(day)
	})
}

func (b *Book) grant(id string) *Grant {
	i := slices.IndexFunc(b.Grants, func(g Grant) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return &b.Grants[i]
}

func (b *Book) member(name string) *Member {
	i := slices.IndexFunc(b.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &b.Members[i]
}
