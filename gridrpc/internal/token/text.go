package token

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Hash is a SHA-256: of a certificate, of a public key, of a secret. As text it is hexadecimal.
type Hash [sha256.Size]byte

// HashOf returns the hash of some bytes.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// MarshalText writes a hash.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText reads a hash.
func (h *Hash) UnmarshalText(text []byte) error {
	data, err := hex.DecodeString(string(text))
	if err != nil || len(data) != len(h) {
		return fmt.Errorf("%.80q is no hash", text)
	}
	copy(h[:], data)
	return nil
}

// Secret is known only to the holder of a token.
type Secret [16]byte

// Hash returns the hash of a secret, which the platform stores in place of the secret.
func (s Secret) Hash() Hash { return HashOf(s[:]) }

// Token admits a machine to a platform. A person copies its text to the machine.
type Token struct {
	CA     Hash // of the certificate of the platform's authority
	Secret Secret
	Addrs  []string // HOST:PORT of the masters
}

// ErrMalformed is the error for a text that is no token.
var ErrMalformed = errors.New(`no token: want the whole of gr1.HASH.SECRET.HOST:PORT, as "gridrpc token new" prints it`)

// Bounds of the text of a token.
const (
	textMax  = 4096
	addrsMax = 16
)

// first is the first part of each token of this version.
const first = "gr1"

// String writes a token: Parse reads it.
func (t Token) String() string {
	code := base64.RawURLEncoding
	return strings.Join([]string{first, code.EncodeToString(t.CA[:]), code.EncodeToString(t.Secret[:]), strings.Join(t.Addrs, ",")}, ".")
}

// Parse reads a token; an error is ErrMalformed.
func Parse(text string) (t Token, err error) {
	text = strings.TrimSpace(text)
	parts := strings.SplitN(text, ".", 4)
	if len(text) > textMax || len(parts) != 4 || parts[0] != first {
		return Token{}, ErrMalformed
	}
	if !decode(t.CA[:], parts[1]) || !decode(t.Secret[:], parts[2]) {
		return Token{}, ErrMalformed
	}
	t.Addrs = strings.Split(parts[3], ",")
	if len(t.Addrs) > addrsMax {
		return Token{}, ErrMalformed
	}
	for _, addr := range t.Addrs {
		if !isAddr(addr) {
			return Token{}, ErrMalformed
		}
	}
	return t, nil
}

// decode fills to with the bytes that text encodes. It returns false if they do not fit exactly.
func decode(to []byte, text string) bool {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && copy(to, data) == len(to) && len(data) == len(to) && base64.RawURLEncoding.EncodeToString(data) == text
}

// isAddr reports whether a text is HOST:PORT, or [HOST]:PORT for a host with colons.
func isAddr(text string) bool {
	at := strings.LastIndexByte(text, ':')
	if at < 1 {
		return false
	}
	host, inner := text[:at], text[:at]
	if rest, opens := strings.CutPrefix(host, "["); opens {
		var closes bool
		if inner, closes = strings.CutSuffix(rest, "]"); !closes {
			return false
		}
	} else if strings.ContainsRune(host, ':') {
		return false
	}
	port, err := strconv.ParseUint(text[at+1:], 10, 16)
	return err == nil && port > 0 && inner != "" && !strings.ContainsAny(inner, "[]/@ \t\r\n\"\\")
}
