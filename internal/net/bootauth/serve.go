package bootauth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Bounds for strangers, which have not proved to be of this start. A daemon makes its handshake
// at once. So a stranger that is silent after a second has to make room if others wait.
const (
	strangersMax = 64
	strangerFor  = 10 * time.Second       // until its request is there
	silentFor    = time.Second            // until its handshake is made, when others wait
	hurryEvery   = 100 * time.Millisecond // interval of the check for silent strangers while others wait
	partFor      = time.Second            // for a stranger to read the reason
	replyFor     = 10 * time.Second       // for a daemon to read its answer
	acceptPause  = 20 * time.Millisecond  // when no descriptor is free
)

// Serve answers the diallers of ln, until ctx ends, and then closes ln. With each dialler Serve
// makes a TLS 1.3 connection, in which both ends show their keys and p accepts the other's. Then
// Serve reads one request, a line of at most [RequestMax] bytes, and writes the result of answer,
// a line of at most [AnswerMax]. Neither includes the end of its line. If answer returns an
// error, the dialler receives its text as the reason of the refusal.
//
// Several goroutines call answer at a time, once for each request. A dialler whose answer is lost
// sends its request again. Serve returns once all calls of answer have returned and their results
// were read, within 10 seconds. The result is nil if ctx ended, and otherwise the reason why ln
// accepts no more.
//
// There are at most 64 strangers at a time, for at most 10 seconds each; others wait to be
// accepted. A stranger cannot harm the other connections.
func Serve(ctx context.Context, ln net.Listener, id *Identity, p Proof, answer func(request []byte) ([]byte, error)) error {
	h := &host{id: id, proof: p, answer: answer, places: make(chan struct{}, strangersMax), strangers: map[*stranger]bool{}}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer func() {
		stop()
		_ = ln.Close()
	}()
	for h.room(ctx) {
		conn, err := ln.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // no descriptor is free, or the dialler has closed
			<-h.places
			sleep(ctx, acceptPause)
		default:
			s := h.enter(conn)
			all.Go(func() { h.meet(ctx, s) })
		}
	}
	return nil
}

// A host is one call of Serve.
type host struct {
	id     *Identity
	proof  Proof
	answer func([]byte) ([]byte, error)
	places chan struct{} // holds an entry for each stranger, and for the next one to be accepted

	mu        sync.Mutex
	strangers map[*stranger]bool
}

// A stranger has not proved to be of this start.
type stranger struct {
	conn   net.Conn
	since  time.Time
	silent bool // the stranger has not made its handshake
}

// room waits until one more stranger may be accepted. It returns false when ctx ends.
func (h *host) room(ctx context.Context) bool {
	hurry := time.NewTicker(hurryEvery)
	defer hurry.Stop()
	for {
		select {
		case h.places <- struct{}{}:
			return ctx.Err() == nil
		case <-hurry.C:
			h.hurry(time.Now().Add(-silentFor))
		case <-ctx.Done():
			return false
		}
	}
}

// hurry closes the connections of strangers that have been silent since then.
func (h *host) hurry(since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.strangers {
		if s.silent && !s.since.After(since) {
			_ = s.conn.Close() // its goroutine sees that
		}
	}
}

func (h *host) enter(conn net.Conn) *stranger {
	s := &stranger{conn: conn, since: time.Now(), silent: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.strangers[s] = true
	return s
}

// leave makes room: s has proved itself, or its connection ends.
func (h *host) leave(s *stranger) {
	h.mu.Lock()
	delete(h.strangers, s)
	h.mu.Unlock()
	<-h.places
}

// heard records that s has made its handshake.
func (h *host) heard(s *stranger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.silent = false
}

// meet makes a stranger prove itself, answers, and closes its connection.
func (h *host) meet(ctx context.Context, s *stranger) {
	defer s.conn.Close()
	secure, request, err := h.admit(ctx, s)
	if err != nil {
		if secure != nil {
			part(ctx, secure, partFor, reply(wordFailed, []byte(plain(err.Error()))))
		}
		h.leave(s)
		return
	}
	h.leave(s)
	part(context.WithoutCancel(ctx), secure, replyFor, h.reply(request))
}

// admit returns the request of a daemon of this start. With an error it also returns a connection
// for the report to the other end, if there is one.
func (h *host) admit(ctx context.Context, s *stranger) (secure *tls.Conn, request []byte, err error) {
	err = within(ctx, s.conn, strangerFor, func(ctx context.Context) error {
		made, peer, err := h.id.handshake(ctx, s.conn, true)
		if err != nil {
			return err
		}
		h.heard(s)
		secure = made
		if err = h.proof.Check(ctx, secure, h.id.key, peer, true); err != nil {
			return err
		}
		if request, err = readRequest(secure); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		return nil
	})
	return secure, request, err
}

// reply returns the reply to a request.
func (h *host) reply(request []byte) []byte {
	text, err := h.answer(request)
	if err == nil {
		if err = checkLine(text, AnswerMax); err != nil {
			err = fmt.Errorf("the answer cannot be sent: %w", err)
		}
	}
	if err != nil {
		return reply(wordRefused, []byte(plain(err.Error())))
	}
	return reply(wordAnswer, text)
}

// part sends the last line, and waits until the other end has read it and closes, at most for
// limit. A close with unread data of the other end would make TCP drop the line.
func part(ctx context.Context, secure *tls.Conn, limit time.Duration, line []byte) {
	if secure.SetDeadline(time.Time{}) != nil { // the earlier deadline may be over
		return
	}
	_ = within(ctx, secure, limit, func(context.Context) error { // a dialler that misses the line asks again
		if _, err := secure.Write(line); err != nil {
			return err
		}
		if err := secure.CloseWrite(); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, io.LimitReader(secure, AnswerMax))
		return err
	})
}
