package bootauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
)

// A Proof checks whether the other end of a connection is a daemon of this start. The other end
// has shown to have the key with the hash peer. Check may exchange data with the other end; own
// is the hash of this side's key, and accepting is true on the side that accepted the connection.
// Check ends when ctx does, and reads no byte behind the proof. One Proof serves many connections
// at a time.
type Proof interface {
	Check(ctx context.Context, conn net.Conn, own, peer [32]byte, accepting bool) error
}

// Pinned is the proof of daemons that have each other's cards from an authentic channel: the key
// of the other end must be one of these. Pinned sends nothing on the wire.
func Pinned(keys ...[32]byte) Proof { return pinned(slices.Clone(keys)) }

type pinned [][32]byte

func (p pinned) Check(_ context.Context, _ net.Conn, _, peer [32]byte, _ bool) error {
	if slices.Contains(p, peer) {
		return nil
	}
	return fmt.Errorf("the key %x... is none of the %d on the cards: a stranger, or a daemon of another start", peer[:4], len(p))
}

// The roles of the two ends, which are part of a proof: the proof of one end is no proof of the
// other.
const (
	dialler  = "dialler"
	listener = "listener"
)

// roles returns the role of this side and that of the other.
func roles(accepting bool) (own, peer string) {
	if accepting {
		return listener, dialler
	}
	return dialler, listener
}

// An exchange is a proof that each side sends in one line. The dialler begins: a stranger that
// dials receives nothing.
type exchange struct {
	prove  func(context.Context) (string, error)
	verify func(ctx context.Context, line string) error
	most   int // bytes of a line
}

func (e exchange) run(ctx context.Context, conn net.Conn, accepting bool) error {
	stop := watch(ctx, conn)
	steps := []func(context.Context, net.Conn) error{e.say, e.hear}
	if accepting {
		slices.Reverse(steps)
	}
	var err error
	for i := 0; i < len(steps) && err == nil; i++ {
		err = steps[i](ctx, conn)
	}
	if stop() {
		return err
	}
	return because(ctx, err)
}

func (e exchange) say(ctx context.Context, conn net.Conn) error {
	line, err := e.prove(ctx)
	if err != nil {
		return err
	}
	if _, err = conn.Write([]byte(line + "\n")); err != nil {
		return fmt.Errorf("the other end does not take the proof: %w", err)
	}
	return nil
}

func (e exchange) hear(ctx context.Context, conn net.Conn) error {
	line, err := readLine(conn, max(e.most, len(wordFailed)+1+reasonMax))
	switch {
	case err != nil:
		return fmt.Errorf("no proof from the other end: %w", err)
	case bytes.HasPrefix(line, []byte(wordFailed+" ")):
		_, err := parseReply(line)
		return err
	case len(line) > e.most:
		return errors.New("the line of the other end is too long for a proof")
	}
	return e.verify(ctx, string(line))
}
