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

// Role is what a process may do: it stands in its certificate.
type Role string

// The roles.
const (
	Client Role = "client" // schedules and submits
	Worker Role = "server" // joins as a leaf
	Agent  Role = "agent"  // joins, and takes children
	Master Role = "master" // may be the root
	Store  Role = "store"  // holds checkpoints
)

// AnyName is in all certificates, for clients in other languages, which insist on a host name:
// they name this one in its place.
const AnyName = "gridrpc"

// Life is how long a certificate can be used, by default; it is renewed when half of that is over.
const Life = 24 * time.Hour

// authorityLife is how long that of an authority can be. Its hash is in tokens and its certificate
// in identities of other machines: a new one would have all of them join anew.
const authorityLife = 10 * 365 * 24 * time.Hour

// skew is by how much the clocks of other machines may be behind that of who issues.
const skew = 5 * time.Minute

// Authority issues the certificates of one platform.
type Authority struct {
	Life       time.Duration // of what it issues
	RenewAfter time.Duration // how old what it issues is when it is renewed; 0: half of Life

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

// OpenAuthority returns the authority of the platform in folder dir, whose key is there, for
// masters.
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

// RenewalAge is how old what it issues is when it is renewed: half of its life at most.
func (a *Authority) RenewalAge() time.Duration {
	if a.RenewAfter == 0 {
		return a.Life / 2
	}
	return min(a.RenewAfter, a.Life/2)
}

// Certificate returns that of the authority.
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

// Save writes the authority into folder dir: its certificate, which Load reads, and its key, which
// OpenAuthority does.
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

// SaveIdentity writes a certificate and its key into folder dir, for Load. Who reads meanwhile sees
// those before, or these.
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
	// Who has it renews it when half of the time is over for which it is made (J5): one to be
	// renewed earlier says that it was made earlier.
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

// writePEM writes a file that only its owner can read, at once: as a whole it takes the place of
// the one before.
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
