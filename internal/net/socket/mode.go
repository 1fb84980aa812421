package socket

import "fmt"

// A Mode says how members of a job talk. All of them have the same.
type Mode uint16

// The modes.
const (
	// Auth has members prove that they know the secret; what they say then is clear.
	Auth Mode = 1
	// TLS has them do that in a TLS 1.3 handshake, and encrypts all that they say.
	TLS Mode = 2
)

// ParseMode returns the mode that a user means by "auth" or "tls".
func ParseMode(text string) (Mode, error) {
	for _, m := range [2]Mode{Auth, TLS} {
		if m.String() == text {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%q, want tls or auth", text)
}

// String returns what a user calls the mode.
func (m Mode) String() string {
	switch m {
	case Auth:
		return "auth"
	case TLS:
		return "tls"
	}
	return fmt.Sprintf("mode %d", uint16(m))
}
