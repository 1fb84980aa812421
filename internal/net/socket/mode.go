package socket

import "fmt"

// A Mode is the security of all connections of a job. All members have the same Mode.
type Mode uint16

// The modes.
const (
	// Auth: members prove that they know the secret; the following traffic is unencrypted.
	Auth Mode = 1
	// TLS: members prove the same in a TLS 1.3 handshake, and all traffic is encrypted.
	TLS Mode = 2
)

// ParseMode returns the mode named "auth" or "tls".
func ParseMode(text string) (Mode, error) {
	for _, m := range [2]Mode{Auth, TLS} {
		if m.String() == text {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%q, want tls or auth", text)
}

// String returns the name of the mode in options.
func (m Mode) String() string {
	switch m {
	case Auth:
		return "auth"
	case TLS:
		return "tls"
	}
	return fmt.Sprintf("mode %d", uint16(m))
}
