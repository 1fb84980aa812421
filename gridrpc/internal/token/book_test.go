package token

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

const (
	begin  = mono.Time(1_800_000_000) * mono.Time(mono.Second)
	hour   = 3600 * mono.Second
	moment = mono.Duration(1)
)

func secretOf(n byte) Secret { return Secret{n} }
func keyOf(n byte) Hash      { return HashOf([]byte{n}) }

// issued returns a book with one token, of secret 1.
func issued(t *testing.T, terms Terms) (b *Book, id string) {
	b = &Book{}
	id, err := b.Issue(begin, secretOf(1), terms)
	require.NoError(t, err)
	return b, id
}

func askOf(name string, key byte) Ask { return Ask{Name: name, Role: Server, Key: keyOf(key)} }

func TestTerms(t *testing.T) {
	for _, bad := range []Terms{{"master", 1, hour}, {"", 1, hour}, {Server, 0, hour}, {Server, usesMax + 1, hour}, {Client, 1, 0}, {Client, 1, lastsMax + 1}} {
		_, err := new(Book).Issue(begin, secretOf(1), bad)
		assert.ErrorIs(t, err, ErrTerms, "%+v", bad)
	}
	b := &Book{Grants: make([]Grant, grantsMax)}
	for i := range b.Grants {
		b.Grants[i].Until = begin
	}
	_, err := b.Issue(begin, secretOf(1), Terms{Server, 1, hour})
	assert.ErrorIs(t, err, ErrFull)
	_, err = b.Issue(begin.Add(day), secretOf(1), Terms{Server, 1, hour})
	assert.NoError(t, err)
}

// TestUses (J1): a token admits as many keys as it has uses, each key any number of times.
func TestUses(t *testing.T) {
	b, id := issued(t, Terms{Server, 2, hour})
	for range 3 {
		m, err := b.Redeem(begin, secretOf(1), askOf("a", 1), hour)
		require.NoError(t, err)
		assert.Equal(t, Member{"a", Server, keyOf(1), id, begin.Add(hour)}, m)
	}
	_, err := b.Redeem(begin, secretOf(1), askOf("b", 2), hour)
	require.NoError(t, err)
	_, err = b.Redeem(begin, secretOf(1), askOf("c", 3), hour)
	assert.ErrorIs(t, err, ErrUsedUp)
	_, err = b.Redeem(begin, secretOf(1), askOf("c", 1), hour) // another name is another use
	assert.ErrorIs(t, err, ErrUsedUp)
	_, err = b.Redeem(begin, secretOf(2), askOf("c", 3), hour)
	assert.ErrorIs(t, err, ErrUnknown)
}

// TestEnds: a token ends at its exact time, and stays known for one more day.
func TestEnds(t *testing.T) {
	for after, want := range map[mono.Duration]error{hour - moment: nil, hour: ErrExpired, hour + day - moment: ErrExpired, hour + day: ErrUnknown} {
		b, _ := issued(t, Terms{Server, 1, hour})
		_, err := b.Redeem(begin.Add(after), secretOf(1), askOf("a", 1), hour)
		assert.ErrorIs(t, err, want, "%v", after)
	}
}

// TestRoles (J2): the role is that of the token, for any requested role.
func TestRoles(t *testing.T) {
	for _, role := range []string{Client, Server} {
		b, _ := issued(t, Terms{role, 1, hour})
		for _, wrong := range []string{Client, Server, "agent", "master", "store", ""} {
			if wrong != role {
				_, err := b.Redeem(begin, secretOf(1), Ask{Name: "a", Role: wrong, Key: keyOf(1)}, hour)
				assert.ErrorIs(t, err, ErrRole)
			}
		}
		m, err := b.Redeem(begin, secretOf(1), Ask{Name: "a", Role: role, Key: keyOf(1)}, hour)
		require.NoError(t, err)
		assert.Equal(t, role, m.Role)
		other := map[string]string{Client: Server, Server: Client}[role]
		_, err = b.Renew(begin, Ask{Name: "a", Role: other, Key: keyOf(1)}, hour)
		assert.ErrorIs(t, err, ErrNoMember)
	}
}

// TestNames (J3): a name belongs to its key until the end of the certificate.
func TestNames(t *testing.T) {
	b, _ := issued(t, Terms{Server, 9, 9 * hour})
	_, err := b.Redeem(begin, secretOf(1), Ask{Name: "s1", Role: Server, Key: keyOf(1), Own: true}, hour)
	require.ErrorIs(t, err, ErrNameTaken)
	_, err = b.Redeem(begin, secretOf(1), askOf("a", 1), hour)
	require.NoError(t, err)
	_, err = b.Redeem(begin.Add(hour-moment), secretOf(1), askOf("a", 2), hour)
	require.ErrorIs(t, err, ErrNameTaken)
	assert.Equal(t, 8, b.Grants[0].Uses, "a refusal takes no use")
	_, err = b.Redeem(begin.Add(hour), secretOf(1), askOf("a", 2), hour)
	require.NoError(t, err)
}

// TestRenewal (J4).
func TestRenewal(t *testing.T) {
	b, id := issued(t, Terms{Server, 1, hour})
	_, err := b.Renew(begin, askOf("a", 1), day)
	require.ErrorIs(t, err, ErrNoMember)
	_, err = b.Redeem(begin, secretOf(1), askOf("a", 1), day)
	require.NoError(t, err)
	now := begin
	for range 100 { // long after the token's end
		now = now.Add(day / 2)
		m, err := b.Renew(now, askOf("a", 1), day)
		require.NoError(t, err)
		assert.Equal(t, now.Add(day), m.Until)
	}
	_, err = b.Renew(now, askOf("a", 2), day)
	require.ErrorIs(t, err, ErrNoMember)
	require.NoError(t, b.Revoke(now, id))
	_, err = b.Renew(now, askOf("a", 1), day)
	require.ErrorIs(t, err, ErrRevoked)
	_, err = b.Redeem(now, secretOf(1), askOf("a", 1), day)
	require.ErrorIs(t, err, ErrRevoked)
	_, err = b.Renew(now.Add(day), askOf("a", 1), day)
	require.ErrorIs(t, err, ErrNoMember)
	assert.Empty(t, b.Grants, "nothing is left of what has ended (J6)")
	assert.Empty(t, b.Members)
	assert.ErrorIs(t, b.Revoke(now, id), ErrUnknown)
}

// TestRevoked (J7): a member of a revoked token is listed until its certificate ends or another
// token admits its key under any name. No other member is listed.
func TestRevoked(t *testing.T) {
	b, id := issued(t, Terms{Server, 3, hour})
	_, err := b.Issue(begin, secretOf(2), Terms{Server, 3, hour})
	require.NoError(t, err)
	for i, ask := range []Ask{askOf("a", 1), askOf("b", 2), askOf("c", 3), askOf("d", 4)} {
		_, err := b.Redeem(begin, secretOf(1+byte(i/3)), ask, day)
		require.NoError(t, err)
	}
	assert.Empty(t, b.Revoked(begin))
	require.NoError(t, b.Revoke(begin, id))
	assert.Equal(t, []Hash{keyOf(1), keyOf(2), keyOf(3)}, b.Revoked(begin))
	for _, ask := range []Ask{askOf("b", 2), askOf("e", 3)} {
		_, err := b.Redeem(begin, secretOf(2), ask, day)
		require.NoError(t, err)
		assert.NotContains(t, b.Revoked(begin), ask.Key)
	}
	assert.Equal(t, []Hash{keyOf(1)}, b.Revoked(begin.Add(day-moment)))
	assert.Empty(t, b.Revoked(begin.Add(day)))
}

func TestRenewAt(t *testing.T) {
	assert.Equal(t, begin.Add(12*hour), RenewAt(begin, begin.Add(day)))
	assert.Equal(t, begin, RenewAt(begin, begin))
}

// TestAnyOrder: for requests in any order, no token is redeemed by more keys and names than it had
// uses, no name belongs to two keys at once, and no ended token is redeemed.
func TestAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	redeemed := 0
	for range 300 {
		b, now := &Book{}, begin
		uses := map[Secret]int{}
		ends := map[Secret]mono.Time{}
		came := map[Secret]map[string]bool{}
		for range 60 {
			now = now.Add(mono.Duration(r.Int64N(int64(hour))))
			secret, ask := secretOf(byte(r.IntN(3))), askOf(string('a'+rune(r.IntN(3))), byte(r.IntN(3)))
			switch r.IntN(4) {
			case 0:
				if _, there := uses[secret]; !there {
					uses[secret], ends[secret], came[secret] = 1+r.IntN(2), now.Add(5*hour), map[string]bool{}
					_, err := b.Issue(now, secret, Terms{Server, uses[secret], 5 * hour})
					require.NoError(t, err)
				}
			case 1, 2:
				before := b.member(ask.Name)
				if before != nil {
					before = new(*before)
				}
				if m, err := b.Redeem(now, secret, ask, 2*hour); err == nil {
					redeemed++
					require.Less(t, now, ends[secret])
					require.True(t, before == nil || before.Key == ask.Key || before.Until <= now)
					key, _ := m.Key.MarshalText()
					came[secret][m.Name+string(key)] = true
				}
			case 3:
				if _, err := b.Renew(now, ask, 2*hour); err == nil {
					require.Equal(t, ask.Key, b.member(ask.Name).Key)
				}
			}
			for s, all := range came {
				require.LessOrEqual(t, len(all), uses[s])
			}
		}
	}
	assert.Greater(t, redeemed, 300)
}

// TestBookAsText: a book is read as it was written.
func TestBookAsText(t *testing.T) {
	b, _ := issued(t, Terms{Client, 3, hour})
	_, err := b.Redeem(begin, secretOf(1), Ask{Name: "a", Role: Client, Key: keyOf(1)}, hour)
	require.NoError(t, err)
	data, err := json.Marshal(b)
	require.NoError(t, err)
	var again Book
	require.NoError(t, json.Unmarshal(data, &again))
	assert.Equal(t, *b, again)
	assert.Error(t, new(Hash).UnmarshalText([]byte("12")))
}
