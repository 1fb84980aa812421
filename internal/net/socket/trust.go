package socket

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrStranger is wrapped by the error of a handshake in which the other end has not proved that it
// is a member of the job.
var ErrStranger = errors.New("not a member of this job")

// Sizes in bytes.
const (
	SecretSize    = 32
	PreambleSize  = 32
	challengeSize = 16
	proofSize     = sha256.Size
)

const (
	magic   = "goulfm/1"
	version = 1
)

// shakeFor bounds a handshake of Dial and Accept. Serve has a shorter bound for the preamble.
const shakeFor = 3 * time.Second

// A Trust holds the keys by which the members of a job authenticate each other.
type Trust struct {
	job  uint64
	mode Mode
	key  []byte // for preambles and proofs
	seed []byte // of the key that members present over TLS

	security *tls.Config // in mode TLS
}

// NewTrust returns the trust of a job with a secret of SecretSize bytes, in mode Auth.
func NewTrust(job uint64, secret []byte) (*Trust, error) {
	if len(secret) != SecretSize {
		return nil, fmt.Errorf("secret of %d bytes, want %d", len(secret), SecretSize)
	}
	salt := binary.LittleEndian.AppendUint64(nil, job)
	key, err := hkdf.Key(sha256.New, secret, salt, "goulfm/1 members", sha256.Size)
	if err != nil {
		return nil, err
	}
	seed, err := hkdf.Key(sha256.New, secret, salt, "goulfm/1 certificate", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return &Trust{job: job, mode: Auth, key: key, seed: seed}, nil
}

// In returns the same trust in a mode. All members must use the same mode.
func (t *Trust) In(m Mode) (*Trust, error) {
	c := *t
	c.mode, c.security = m, nil
	var err error
	switch m {
	case Auth:
	case TLS:
		c.security, err = newSecurity(t.seed)
	default:
		err = fmt.Errorf("there is no %v", m)
	}
	return &c, err
}

// unanswered returns the error of a dialer whose preamble the listener has not answered.
func unanswered(err error) error {
	return fmt.Errorf("no answer to the preamble, as for a process of another job: %w", err)
}

// prove is the dialer's part in mode Auth, after its preamble.
func (t *Trust) prove(conn io.ReadWriter, preamble []byte) error {
	answer := make([]byte, challengeSize+proofSize)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return unanswered(err)
	}
	challenge := answer[:challengeSize]
	if !hmac.Equal(answer[challengeSize:], t.proof("listener", preamble, challenge)) {
		return fmt.Errorf("%w: the listener's proof is wrong", ErrStranger)
	}
	_, err := conn.Write(t.proof("dialer", preamble, challenge))
	return err
}

// readPreamble reads and checks the preamble of a dialer.
func (t *Trust) readPreamble(conn io.Reader, birth uint64) ([]byte, error) {
	preamble := make([]byte, PreambleSize)
	if _, err := io.ReadFull(conn, preamble); err != nil {
		return nil, err
	}
	return preamble, t.checkPreamble(preamble, birth)
}

// challenge is the listener's part in mode Auth.
func (t *Trust) challenge(conn io.ReadWriter, preamble []byte) error {
	challenge := randomBytes(challengeSize)
	if _, err := conn.Write(append(challenge, t.proof("listener", preamble, challenge)...)); err != nil {
		return err
	}
	proof := make([]byte, proofSize)
	if _, err := io.ReadFull(conn, proof); err != nil {
		return err
	}
	if !hmac.Equal(proof, t.proof("dialer", preamble, challenge)) {
		return fmt.Errorf("%w: the dialer's proof is wrong", ErrStranger)
	}
	return nil
}

// preamble returns the preamble of a dialer; nonce has 4 bytes.
func (t *Trust) preamble(birth uint64, nonce []byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(magic), version)
	b = append(binary.LittleEndian.AppendUint16(b, uint16(t.mode)), nonce...)
	return append(b, t.code(birth, b)...)
}

// checkPreamble returns nil if a preamble of PreambleSize bytes is valid, otherwise the reason.
func (t *Trust) checkPreamble(b []byte, birth uint64) error {
	clear := b[:PreambleSize-16]
	switch {
	case string(b[:8]) != magic:
		return fmt.Errorf("%w: it does not speak our protocol", ErrStranger)
	case !hmac.Equal(b[PreambleSize-16:], t.code(birth, clear)):
		return fmt.Errorf("%w: its preamble is of another job, or for another process", ErrStranger)
	case binary.LittleEndian.Uint16(b[8:]) != version:
		return fmt.Errorf("protocol version %d, this process speaks %d: build all from one version of goulfm", binary.LittleEndian.Uint16(b[8:]), version)
	case Mode(binary.LittleEndian.Uint16(b[10:])) != t.mode:
		return fmt.Errorf("it has --secure %v, this process %v: start all with the same", Mode(binary.LittleEndian.Uint16(b[10:])), t.mode)
	}
	return nil
}

// code returns the 16 bytes by which a listener born as birth authenticates a dialer's preamble.
func (t *Trust) code(birth uint64, clear []byte) []byte {
	mac := hmac.New(sha256.New, t.key)
	mac.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.job), birth))
	mac.Write(clear)
	return mac.Sum(nil)[:16]
}

func (t *Trust) proof(role string, preamble, challenge []byte) []byte {
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte(role))
	mac.Write(preamble)
	mac.Write(challenge)
	return mac.Sum(nil)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}
