package socket

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// ErrStranger is wrapped by the error of a handshake in which the other end has not proved that
// it is a member of the job.
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
	modeKey = 1 // members prove that they know the secret; nothing is encrypted
)

// shakeFor is how long a handshake may take once a connection is there.
const shakeFor = 3 * time.Second

// Trust is by what the members of a job know each other.
type Trust struct {
	job uint64
	key []byte
}

// NewTrust returns the trust of a job with a secret of SecretSize bytes.
func NewTrust(job uint64, secret []byte) (*Trust, error) {
	if len(secret) != SecretSize {
		return nil, fmt.Errorf("secret of %d bytes, want %d", len(secret), SecretSize)
	}
	key, err := hkdf.Key(sha256.New, secret, binary.LittleEndian.AppendUint64(nil, job), "goulfm/1 members", sha256.Size)
	if err != nil {
		return nil, err
	}
	return &Trust{job: job, key: key}, nil
}

// Dial connects to the listener of a member that was born as birth, and returns the connection
// once both ends have proved themselves.
func (t *Trust) Dial(ctx context.Context, addr string, birth uint64) (*net.TCPConn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	_ = tcp.SetDeadline(time.Now().Add(shakeFor))
	if err := t.greet(tcp, birth); err != nil {
		tcp.Close()
		return nil, err
	}
	return tcp, tcp.SetDeadline(time.Time{})
}

// Accept proves to a dialer that this end, born as birth, is a member, and has it do the same.
// The caller closes the connection after an error.
func (t *Trust) Accept(conn *net.TCPConn, birth uint64) error {
	_ = conn.SetDeadline(time.Now().Add(shakeFor))
	if err := t.admit(conn, birth); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// greet is the dialer's part of the handshake.
func (t *Trust) greet(conn io.ReadWriter, birth uint64) error {
	preamble := t.preamble(birth, randomBytes(4))
	if _, err := conn.Write(preamble); err != nil {
		return err
	}
	answer := make([]byte, challengeSize+proofSize)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return fmt.Errorf("no answer to the preamble, as a stranger gets it: %w", err)
	}
	challenge := answer[:challengeSize]
	if !hmac.Equal(answer[challengeSize:], t.proof("listener", preamble, challenge)) {
		return fmt.Errorf("%w: the listener's proof is wrong", ErrStranger)
	}
	_, err := conn.Write(t.proof("dialer", preamble, challenge))
	return err
}

// admit is the listener's part.
func (t *Trust) admit(conn io.ReadWriter, birth uint64) error {
	preamble := make([]byte, PreambleSize)
	if _, err := io.ReadFull(conn, preamble); err != nil {
		return err
	}
	if err := t.checkPreamble(preamble, birth); err != nil {
		return err
	}
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

// preamble returns what a dialer says first; nonce has 4 bytes.
func (t *Trust) preamble(birth uint64, nonce []byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(magic), version)
	b = append(binary.LittleEndian.AppendUint16(b, modeKey), nonce...)
	return append(b, t.code(birth, b)...)
}

// checkPreamble says what is wrong with a preamble of PreambleSize bytes, or nil.
func (t *Trust) checkPreamble(b []byte, birth uint64) error {
	clear := b[:PreambleSize-16]
	switch {
	case string(b[:8]) != magic:
		return fmt.Errorf("%w: it does not speak our protocol", ErrStranger)
	case !hmac.Equal(b[PreambleSize-16:], t.code(birth, clear)):
		return fmt.Errorf("%w: its preamble is of another job, or for another process", ErrStranger)
	case binary.LittleEndian.Uint16(b[8:]) != version:
		return fmt.Errorf("protocol version %d, this process speaks %d: build all from one version of goulfm", binary.LittleEndian.Uint16(b[8:]), version)
	case binary.LittleEndian.Uint16(b[10:]) != modeKey:
		return fmt.Errorf("security mode %d, this process speaks %d: start all with the same --secure", binary.LittleEndian.Uint16(b[10:]), modeKey)
	}
	return nil
}

// code returns the 16 bytes by which a listener born as birth knows a dialer's preamble.
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
