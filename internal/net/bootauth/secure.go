package bootauth

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
)

// handshake makes conn a TLS 1.3 connection, and returns the hash of the key that the other end
// has shown to have. The owner of that key is unknown: see [Proof]. A dialler may have ended its
// handshake before the listener has checked the dialler's certificate.
func (i *Identity) handshake(ctx context.Context, conn net.Conn, accepting bool) (secure *tls.Conn, peer [32]byte, err error) {
	config := i.config(&peer)
	if accepting {
		secure = tls.Server(conn, config)
	} else {
		secure = tls.Client(conn, config)
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, peer, fmt.Errorf("TLS: %w", err)
	}
	return secure, peer, nil
}

// config is for one handshake, which stores the hash of the other end's key in peer.
func (i *Identity) config(peer *[32]byte) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{i.cert},
		MinVersion:   tls.VersionTLS13,
		ClientAuth:   tls.RequireAnyClientCert,
		// There is no authority and no name to verify. TLS still verifies that the other end has
		// the key of its certificate.
		InsecureSkipVerify: true,
		// A resumed session does not show the certificates again.
		SessionTicketsDisabled: true,
		VerifyPeerCertificate: func(chain [][]byte, _ [][]*x509.Certificate) error {
			var err error
			*peer, err = keyOf(chain)
			return err
		},
	}
}

// keyOf returns the hash of the key in the first of these certificates.
func keyOf(chain [][]byte) ([32]byte, error) {
	if len(chain) == 0 {
		return [32]byte{}, errors.New("the other end shows no certificate")
	}
	leaf, err := x509.ParseCertificate(chain[0])
	switch {
	case err != nil:
		return [32]byte{}, err
	case leaf.PublicKeyAlgorithm != x509.Ed25519:
		return [32]byte{}, fmt.Errorf("the other end has a key of kind %v: it is no daemon of ours", leaf.PublicKeyAlgorithm)
	}
	return sha256.Sum256(leaf.RawSubjectPublicKeyInfo), nil
}
