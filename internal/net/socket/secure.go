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

// protocol is the name by which both ends of a TLS connection identify the protocol (ALPN).
const protocol = "goulfm/1"

// newSecurity returns the TLS configuration for the holders of a seed. All members present a
// certificate of the same key, which is derived from the job's secret. A peer that can sign with
// this key is a member: no authority and no name is checked.
func newSecurity(seed []byte) (*tls.Config, error) {
	key := ed25519.NewKeyFromSeed(seed)
	own := key.Public().(ed25519.PublicKey)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<32, 0)} // no member checks these fields
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
		// A connection is made once and lives long. Session tickets, which make the next connection
		// cheaper, and small first records, which speed up the first bytes of a page, are useless
		// here.
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}, nil
}

// checkMember returns nil if the other end of a connection is a member of the job with a key,
// otherwise the reason. TLS has already checked that the other end holds the key of its
// certificate.
func checkMember(state tls.ConnectionState, own ed25519.PublicKey) error {
	if len(state.PeerCertificates) != 1 || !own.Equal(state.PeerCertificates[0].PublicKey) {
		return fmt.Errorf("%w: its key is another one", ErrStranger)
	}
	if state.NegotiatedProtocol != protocol {
		return fmt.Errorf("%w: it does not speak our protocol over TLS", ErrStranger)
	}
	return nil
}
