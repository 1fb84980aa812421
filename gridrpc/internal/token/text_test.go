package token

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample() Token {
	return Token{CA: HashOf([]byte("ca")), Secret: Secret{1, 2, 3}, Addrs: []string{"node-1.example:4000", "[::1]:4001", "127.0.0.1:65535"}}
}

func TestParse(t *testing.T) {
	want := sample()
	got, err := Parse(" " + want.String() + "\n")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	text := want.String()
	for _, bad := range []string{
		"", "gr1", "gr2" + text[3:], text[:len(text)-1] + "6", strings.Replace(text, ".", "", 1), text + ",", text[:30], text + strings.Repeat(",a:1", 20),
		strings.Replace(text, "node-1.example:4000", "node-1.example", 1), strings.Replace(text, "[::1]", "::1", 1), strings.Replace(text, "4000", "0", 1),
		text + strings.Repeat("x", textMax),
	} {
		_, err := Parse(bad)
		assert.ErrorIs(t, err, ErrMalformed, bad)
	}
}

// FuzzParse: a text is either refused, or is a token that is written as it was read, with valid
// addresses.
func FuzzParse(f *testing.F) {
	f.Add(sample().String())
	f.Add("gr1.a.b.c:1")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			assert.ErrorIs(t, err, ErrMalformed)
			return
		}
		assert.Equal(t, strings.TrimSpace(text), got.String())
		for _, addr := range got.Addrs {
			_, _, err := net.SplitHostPort(addr)
			assert.NoError(t, err)
		}
	})
}
