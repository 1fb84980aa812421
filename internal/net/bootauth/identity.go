package bootauth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"
)

// An Identity is a key pair made for one start of one daemon. It is Ed25519, with a self-signed
// certificate, since TLS needs one. Both are in memory only and end with the process.
type Identity struct {
	key  [32]byte
	cert tls.Certificate
}

// NewIdentity draws a key pair. It fails only if the system cannot make one.
func NewIdentity() (*Identity, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key pair: %w", err)
	}
	info, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	// Nobody checks the times or the number: clocks of nodes differ, and only the key counts.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &Identity{
		key:  sha256.Sum256(info),
		cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private},
	}, nil
}

// Key returns the SHA-256 of the public key (PKIX DER), by which others recognise this daemon.
func (i *Identity) Key() [32]byte { return i.key }
