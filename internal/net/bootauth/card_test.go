package bootauth

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func addrs(texts ...string) []netip.Addr {
	var as []netip.Addr
	for _, text := range texts {
		as = append(as, netip.MustParseAddr(text))
	}
	return as
}

// numbered returns a key that a reader recognises in a dump.
func numbered(first byte) (key [32]byte) {
	for i := range key {
		key[i] = first + byte(i)
	}
	return key
}

var cardText = fmt.Sprintf("%08x", buildid.Build) + "0000000000000102" +
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf" + "4e21" +
	"00000000000000000000ffff0a000007" + "fe800000000000000000000000000001" + "00000000000000000000000000000000"

// TestCardText pins every byte.
func TestCardText(t *testing.T) {
	c := Card{Birth: 0x102, Key: numbered(0xa0), Port: 20001, Addrs: addrs("10.0.0.7", "fe80::1")}
	assert.Equal(t, cardText, c.Text())
	assert.Len(t, cardText, CardDigits)
	assert.Equal(t, 188, CardDigits)
	read, err := ParseCard(cardText)
	require.NoError(t, err)
	assert.Equal(t, c, read)
}

func TestCardOfAddresses(t *testing.T) {
	for name, c := range map[string]struct{ given, read []netip.Addr }{
		"none":             {nil, nil},
		"more than three":  {addrs("10.0.0.1", "10.0.0.2", "::1", "10.0.0.4"), addrs("10.0.0.1", "10.0.0.2", "::1")},
		"with a zone":      {addrs("fe80::1%eth0"), addrs("fe80::1")},
		"IPv4 as IPv6":     {addrs("::ffff:10.0.0.1"), addrs("10.0.0.1")},
		"those of no use":  {[]netip.Addr{{}, netip.IPv4Unspecified(), netip.IPv6Unspecified(), addrs("10.0.0.1")[0]}, addrs("10.0.0.1")},
		"one in each form": {addrs("192.168.1.1", "2001:db8::7", "127.0.0.1"), addrs("192.168.1.1", "2001:db8::7", "127.0.0.1")},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := ParseCard(Card{Addrs: c.given}.Text())
			require.NoError(t, err)
			assert.Equal(t, c.read, read.Addrs)
		})
	}
}

func TestParseCardRefuses(t *testing.T) {
	zero := strings.Repeat("0", 2*addrBytes)
	head := cardText[:2*addrsAt]
	for name, c := range map[string]struct{ text, why string }{
		"nothing":           {"", "0 characters"},
		"too short":         {cardText[:186], "186 characters"},
		"too long":          {cardText + "00", "190 characters"},
		"no digits":         {"x" + cardText[1:], "invalid byte"},
		"upper case":        {strings.ToUpper(cardText), "upper-case"},
		"an odd digit":      {cardText + "0", "odd length"},
		"a gap":             {head + zero + zero + cardText[2*addrsAt:][:32], "after an unused one"},
		"0.0.0.0 as a name": {head + "00000000000000000000ffff00000000" + zero + zero, "address 0.0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseCard(c.text)
			require.ErrorIs(t, err, ErrCard)
			require.NotErrorIs(t, err, buildid.ErrAnother)
			assert.ErrorContains(t, err, c.why)
		})
	}
}

// TestCardOfAnotherBuild: only the first four bytes are read, whatever the length of the card.
// Cards of versions without build numbers had 182 digits and began with 01.
func TestCardOfAnotherBuild(t *testing.T) {
	other := fmt.Sprintf("%08x", buildid.Build^1)
	for _, text := range []string{other, other + cardText[8:], other + cardText[8:] + "00", "01" + cardText[8:]} {
		_, err := ParseCard(text)
		require.ErrorIs(t, err, buildid.ErrAnother, text)
		require.NotErrorIs(t, err, ErrCard, text)
	}
}

// FuzzParseCard: a parsed card has the text that was parsed. An error is ErrCard, or reports
// another build.
func FuzzParseCard(f *testing.F) {
	f.Add(cardText)
	f.Add(Card{}.Text())
	f.Add(Card{Birth: 1 << 63, Port: 65535, Addrs: addrs("::1", "10.0.0.1", "::2")}.Text())
	f.Add("")
	f.Add(strings.Repeat("f", CardDigits))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCard(text)
		if err != nil {
			require.True(t, errors.Is(err, ErrCard) != errors.Is(err, buildid.ErrAnother), err)
			require.Zero(t, c)
			return
		}
		require.Equal(t, text, c.Text())
		require.LessOrEqual(t, len(c.Addrs), AddrsMax)
	})
}
