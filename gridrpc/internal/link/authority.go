package link

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Role determines the permissions of a process. It is part of the certificate.
type Role string

// The roles.
const (
	Client Role = "client" // schedules and submits
	Worker Role = "server" // joins as a leaf
	Agent  Role = "agent"  // joins, and accepts children
	Master Role = "master" // may be the root
	Store  Role = "store"  // holds checkpoints
)

// AnyName is the host name in all certificates. Clients in other languages require a host name, and
// expect this one.
const AnyName = "gridrpc"

// Life is the default lifetime of a certificate. Certificates are renewed after half of it.
const Life = 24 * time.Hour

// authorityLife is the lifetime of the certificate of an authority. Tokens contain its hash, and
// identities on other machines contain the certificate: with a new one all of them must join again.
const authorityLife = 10 * 365 * 24 * time.Hour

// skew is the largest delay of the clock of another machine behind that of the issuer.
const skew = 5 * time.Minute

// Authority issues the certificates of one platform.
type Authority struct {
	Life       time.Duration // of issued certificates
	RenewAfter time.Duration // age at which they are renewed; 0: half of Life

	platform string
	cert     *x509.Certificate
	key      crypto.Signer
}

// NewAuthority makes an authority with a key of its own.
func NewAuthority(platform string) (*Authority, error) {
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	t, err := template(time.Now(), authorityLife)
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign
	t.Subject = pkix.Name{CommonName: "gridrpc " + platform}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{Life: Life, platform: platform, cert: cert, key: key}, err
}

// OpenAuthority returns the authority of the platform in folder dir, which has its key. Masters use
// it.
func OpenAuthority(dir, platform string) (*Authority, error) {
	path := filepath.Join(dir, authorityFile)
	pair, err := tls.LoadX509KeyPair(path, path)
	if err != nil {
		return nil, fmt.Errorf("authority of the platform: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s: no authority", path)
	}
	return &Authority{Life: Life, platform: platform, cert: pair.Leaf, key: key}, nil
}

// Ends returns when the authority's own certificate ends.
func (a *Authority) Ends() time.Time { return a.cert.NotAfter }

// RenewalAge returns the age at which an issued certificate is renewed, at most half of Life.
func (a *Authority) RenewalAge() time.Duration {
	if a.RenewAfter == 0 {
		return a.Life / 2
	}
	return min(a.RenewAfter, a.Life/2)
}

// Certificate returns the certificate of the authority.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// NewKey makes a key, for an authority or a process.
func NewKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func template(now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-skew), NotAfter: now.Add(life)}, nil
}

// Save writes the authority into folder dir: the certificate for Load, and the key for
// OpenAuthority.
func (a *Authority) Save(dir string) error {
	secret, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(dir, authorityFile), block{"CERTIFICATE", a.cert.Raw}, block{"PRIVATE KEY", secret}),
		SaveTrust(dir, a.cert.Raw),
	)
}

// SaveTrust writes the certificate of an authority into folder dir, for Load.
func SaveTrust(dir string, ca []byte) error {
	return writePEM(filepath.Join(dir, caFile), block{"CERTIFICATE", ca})
}

// Issue writes a certificate and its key for a process into folder dir.
func (a *Authority) Issue(dir string, role Role, name string) error {
	key, err := NewKey()
	if err != nil {
		return err
	}
	der, err := a.Sign(&key.PublicKey, role, name, time.Now())
	if err != nil {
		return err
	}
	return SaveIdentity(dir, name, der, key)
}

// SaveIdentity writes a certificate and its key into folder dir, for Load. A reader sees either the
// earlier pair or this one.
func SaveIdentity(dir, name string, der []byte, key *ecdsa.PrivateKey) error {
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(certFile(dir, name), block{"CERTIFICATE", der}, block{"EC PRIVATE KEY", secret})
}

// Sign returns a certificate for a key, which is valid from now on for the authority's Life.
func (a *Authority) Sign(key crypto.PublicKey, role Role, name string, now time.Time) (der []byte, err error) {
	t, err := template(now, a.Life)
	if err != nil {
		return nil, err
	}
	// The holder renews a certificate after half of its lifetime (J5). A certificate for an earlier
	// renewal therefore has an earlier start.
	t.NotBefore = t.NotBefore.Add(2*a.RenewalAge() - a.Life)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	t.DNSNames = []string{AnyName}
	t.URIs = []*url.URL{{Scheme: "goulfm", Host: a.platform, Path: fmt.Sprintf("/%s/%s", role, name)}}
	return x509.CreateCertificate(rand.Reader, t, a.cert, key, a.key)
}

// Files of a folder.
const (
	caFile        = "ca.pem"        // the certificate of the authority
	authorityFile = "authority.pem" // the same, and its key
)

func certFile(dir, name string) string { return filepath.Join(dir, name+".pem") }

type block struct {
	kind string
	der  []byte
}

// writePEM writes a file that only its owner can read. It replaces an earlier file atomically.
func writePEM(path string, blocks ...block) error {
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: b.kind, Bytes: b.der})...)
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
