package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Times of requests to the servers. A lost leader is replaced after 4 to 9 s.
const (
	answerWithin = 3 * time.Second // for one request
	patience     = 30 * time.Second
	pauseFirst   = 20 * time.Millisecond // between two, doubled
	pauseLast    = 500 * time.Millisecond
)

// ask repeats a request until its answer is not a lack of servers. A request may be executed more
// than once.
func (s *Store) ask(ctx context.Context, question func(ctx context.Context) error) error {
	begun := time.Now()
	for pause := pauseFirst; ; pause = min(2*pause, pauseLast) {
		one, cancel := context.WithTimeout(ctx, answerWithin)
		err := question(one)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !passes(err):
			return err
		case time.Since(begun) >= patience:
			return fmt.Errorf("jetstream: no answer from enough of the servers for %v: %w", patience, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// passes reports whether an error may soon pass: no leader, no connection, no answer.
func passes(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code >= 500
	}
	for _, known := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		nats.ErrNoServers, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// publish sends a message. With last, the message is accepted only if the latest message of its
// subject has this number; 0 is none.
func (s *Store) publish(ctx context.Context, subject string, data []byte, last *uint64) error {
	options := []jetstream.PublishOpt{jetstream.WithRetryAttempts(0)}
	if last != nil {
		options = append(options, jetstream.WithExpectLastSequencePerSubject(*last))
	}
	return s.ask(ctx, func(ctx context.Context) error {
		_, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: data}, options...)
		return err
	})
}

// isConflict reports whether a message was refused because another one was the latest.
func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// latest returns the message of a subject, and its number; jetstream.ErrMsgNotFound is none.
func (s *Store) latest(ctx context.Context, subject string) (data []byte, number uint64, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		m, err := s.stream.GetLastMsgForSubject(ctx, subject)
		if err == nil {
			data, number = m.Data, m.Sequence
		}
		return err
	})
	return data, number, err
}

// forget deletes the messages of a subject or of a pattern, up to a number.
func (s *Store) forget(ctx context.Context, subject string, last uint64) error {
	options := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject(subject)}
	if last > 0 {
		options = append(options, jetstream.WithPurgeSequence(last+1))
	}
	return s.ask(ctx, func(ctx context.Context) error { return s.stream.Purge(ctx, options...) })
}
