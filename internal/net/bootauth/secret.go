package bootauth

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
)

// Secret is the proof of daemons that can read the same file. file is its content (see
// [ReadSecretFile]), and key names the start. Each side sends a code (HMAC-SHA256) over its role
// and the hashes of its own key and of the other's, in hexadecimal digits. The codes of the two
// sides differ, and are worth nothing on another connection.
//
// An impostor that listens in place of a daemon learns one code of a dialler, and can test
// secrets against it: the file has to be random, not a word that people remember.
func Secret(file []byte, key string) Proof {
	derived, err := hkdf.Key(sha256.New, file, nil, "goulfm introduce "+key, sha256.Size)
	return secret{derived, err}
}

type secret struct {
	key []byte
	err error // the reason why there is no key: the Go runtime refuses short keys in FIPS mode
}

var errSecret = errors.New("the other end does not know the secret: it is a stranger, or the secret files of the two nodes differ")

func (s secret) Check(ctx context.Context, conn net.Conn, own, peer [32]byte, accepting bool) error {
	if s.err != nil {
		return fmt.Errorf("secret file: %w", s.err)
	}
	role, other := roles(accepting)
	e := exchange{
		prove: func(context.Context) (string, error) { return s.code(role, own, peer), nil },
		verify: func(_ context.Context, line string) error {
			if !hmac.Equal([]byte(line), []byte(s.code(other, peer, own))) {
				return errSecret
			}
			return nil
		},
		most: 2 * sha256.Size,
	}
	return e.run(ctx, conn, accepting)
}

// code returns the code of the side with this role and key for the side with the key peer.
func (s secret) code(role string, own, peer [32]byte) string {
	mac := hmac.New(sha256.New, s.key)
	for _, part := range [][]byte{[]byte(role), {0}, own[:], peer[:]} {
		_, _ = mac.Write(part) // a hash takes all
	}
	return hex.EncodeToString(mac.Sum(nil))
}
