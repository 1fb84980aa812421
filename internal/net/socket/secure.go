package socket

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"
)

// protocol is what both ends of a TLS connection name as theirs (ALPN).
const protocol = "goulfm/1"

// newSecurity returns how the holders of a seed talk TLS. All show a certificate of the same key,
// which follows from the job's secret, and take whoever can sign with that key for a member: no
// authority and no name is asked.
func newSecurity(seed []byte) (*tls.Config, error) {
	key := ed25519.NewKeyFromSeed(seed)
	own := key.Public().(ed25519.PublicKey)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<32, 0)} // nobody looks at these
	cert, err := x509.CreateCertificate(rand.Reader, form, form, own, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates:       []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it
		VerifyConnection:   func(state tls.ConnectionState) error { return checkMember(state, own) },
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{protocol},
		CurvePreferences:   []tls.CurveID{tls.X25519},
		// A connection is made once and lives long: what makes the next one cheaper, or the first
		// bytes of a page faster, is of no use.
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}, nil
}

// checkMember says why the other end of a connection is no member of the job with a key, or nil.
// That it holds the key of its certificate TLS has seen to.
func checkMember(state tls.ConnectionState, own ed25519.PublicKey) error {
	if len(state.PeerCertificates) != 1 || !own.Equal(state.PeerCertificates[0].PublicKey) {
		return fmt.Errorf("%w: its key is another one", ErrStranger)
	}
	if state.NegotiatedProtocol != protocol {
		return fmt.Errorf("%w: it does not speak our protocol over TLS", ErrStranger)
	}
	return nil
}
