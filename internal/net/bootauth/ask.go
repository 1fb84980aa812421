package bootauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Bounds of one attempt of a dialler, and the pauses between rounds.
const (
	connectFor   = 2 * time.Second  // to resolve the name and connect
	handshakeFor = 5 * time.Second  // another service may listen there and send nothing
	proveFor     = 10 * time.Second // many nodes may call MUNGE at a time
	answerFor    = 10 * time.Second
	pauseMin     = 50 * time.Millisecond // after the first round; doubling
	pauseMax     = time.Second
)

// Ask connects to one of addrs ("host:port"; names are resolved each time anew). It calls p to
// check that the other end is a daemon of this start, sends the request, a line of at most
// [RequestMax] bytes without its end, and returns the answer.
//
// Ask tries the addresses in turn until one answers or refuses. A refusal is [ErrRefused] with
// the reason: a daemon that can refuse is of this start, and would refuse again. If ctx ends
// before, the error wraps its cause and names each address with its last error. Each address has
// 2 seconds to connect, 5 for the handshake, 10 to prove itself and 10 to answer. After each
// round there is a pause, 50 ms at first and doubling to a second.
//
// A request may arrive twice, if the connection breaks before the answer arrives.
func Ask(ctx context.Context, addrs []string, id *Identity, p Proof, request []byte) ([]byte, error) {
	var d net.Dialer
	a := asker{id: id, proof: p, request: request, dial: func(ctx context.Context, addr string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", addr)
	}}
	return a.ask(ctx, addrs)
}

// An asker is one call of Ask.
type asker struct {
	id      *Identity
	proof   Proof
	request []byte
	dial    func(ctx context.Context, addr string) (net.Conn, error)
}

var errNotTried = errors.New("not tried")

func (a asker) ask(ctx context.Context, addrs []string) ([]byte, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address to ask")
	}
	if err := checkLine(a.request, RequestMax); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	last := make([]error, len(addrs))
	for i := range last {
		last[i] = errNotTried
	}
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		for i, addr := range addrs {
			answer, err := a.attempt(ctx, addr)
			switch {
			case err == nil:
				return answer, nil
			case errors.Is(err, ErrRefused):
				return nil, fmt.Errorf("%s: %w", addr, err)
			case ctx.Err() == nil || errors.Is(last[i], errNotTried): // the end of ctx is no fault of the address
				last[i] = err
			}
			if ctx.Err() != nil {
				return nil, unanswered(ctx, addrs, last)
			}
		}
		if !sleep(ctx, pause) {
			return nil, unanswered(ctx, addrs, last)
		}
	}
}

func unanswered(ctx context.Context, addrs []string, last []error) error {
	causes := make([]string, len(addrs))
	for i, addr := range addrs {
		causes[i] = addr + ": " + plain(strings.TrimPrefix(last[i].Error(), "dial tcp "+addr+": "))
	}
	return fmt.Errorf("nobody has answered: %w (%s)", context.Cause(ctx), strings.Join(causes, "; "))
}

// attempt asks one address once.
func (a asker) attempt(ctx context.Context, addr string) ([]byte, error) {
	conn, err := a.connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	secure, peer, err := a.secure(ctx, conn)
	if err != nil {
		return nil, err
	}
	err = within(ctx, conn, proveFor, func(ctx context.Context) error {
		return a.proof.Check(ctx, secure, a.id.key, peer, false)
	})
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = within(ctx, conn, answerFor, func(context.Context) (err error) {
		answer, err = a.converse(secure)
		return err
	})
	return answer, err
}

func (a asker) connect(ctx context.Context, addr string) (net.Conn, error) {
	phase, cancel := context.WithTimeoutCause(ctx, connectFor, fmt.Errorf("no connection within %v", connectFor))
	defer cancel()
	conn, err := a.dial(phase, addr)
	if err != nil {
		return nil, because(phase, err)
	}
	return conn, nil
}

func (a asker) secure(ctx context.Context, conn net.Conn) (secure net.Conn, peer [32]byte, err error) {
	err = within(ctx, conn, handshakeFor, func(ctx context.Context) error {
		made, key, err := a.id.handshake(ctx, conn, false)
		secure, peer = made, key
		return err
	})
	return secure, peer, err
}

// converse sends the request and reads the answer. A listener that rejected this side's proof may
// have closed already: then its answer counts, not the failed write.
func (a asker) converse(secure net.Conn) ([]byte, error) {
	_, sent := secure.Write(append(append([]byte{}, a.request...), '\n'))
	line, err := readLine(secure, replyMax)
	switch {
	case err == nil:
		return parseReply(line)
	case sent != nil:
		return nil, fmt.Errorf("request: %w", sent)
	}
	return nil, fmt.Errorf("no answer: %w", err)
}
