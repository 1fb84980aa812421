package link

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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

// validFor is how long a certificate can be used.
const validFor = 30 * 24 * time.Hour

// Authority issues the certificates of one platform.
type Authority struct {
	platform string
	cert     *x509.Certificate
	key      *ecdsa.PrivateKey
}

// NewAuthority makes an authority with a key of its own, which stays in this process.
func NewAuthority(platform string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t, err := template()
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
	return &Authority{platform: platform, cert: cert, key: key}, err
}

func template() (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(validFor)}, nil
}

// Save writes the authority's certificate into folder dir, which Load reads.
func (a *Authority) Save(dir string) error {
	return writePEM(filepath.Join(dir, caFile), block{"CERTIFICATE", a.cert.Raw})
}

// Issue writes a certificate and its key for a process into folder dir.
func (a *Authority) Issue(dir string, role Role, name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	t, err := template()
	if err != nil {
		return err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	t.DNSNames = []string{AnyName}
	t.URIs = []*url.URL{{Scheme: "goulfm", Host: a.platform, Path: fmt.Sprintf("/%s/%s", role, name)}}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(certFile(dir, name), block{"CERTIFICATE", der}, block{"EC PRIVATE KEY", secret})
}

const caFile = "ca.pem"

func certFile(dir, name string) string { return filepath.Join(dir, name+".pem") }

type block struct {
	kind string
	der  []byte
}

// writePEM writes a file that only its owner can read.
func writePEM(path string, blocks ...block) error {
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: b.kind, Bytes: b.der})...)
	}
	return os.WriteFile(path, text, 0o600)
}
