package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// copies is the number of servers that have each message.
const copies = 3

// openWithin bounds the time for which Open waits for servers that have just been started.
const openWithin = time.Minute

// Store is a store of checkpoints. It may be used by several goroutines.
type Store struct {
	// Hosts maps the names of servers to their hosts. A server that is not listed is on a host of
	// the same name. Set Hosts before the store is used.
	Hosts map[string]checkpoint.Host

	subjects
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
}

var (
	_ checkpoint.Store   = (*Store)(nil)
	_ checkpoint.Locator = (*Store)(nil)
)

// Open connects to the servers in the name of a store, with TLS unless config is nil. It waits for
// at most a minute until enough servers answer, and makes the stream if there is none.
func Open(ctx context.Context, name string, config *tls.Config) (*Store, error) {
	servers, stream, err := Parse(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	s := &Store{subjects: subjects{stream}}
	if err = s.connect(servers, config); err == nil {
		err = s.find(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	return s, nil
}

// Times of connections. A stopped server keeps its connections, and does not answer.
const (
	dialWithin = 2 * time.Second
	redialWait = 50 * time.Millisecond
	pingEach   = 2 * time.Second
	pingsMax   = 2 // unanswered
)

// connect keeps a connection to any one of the servers as long as the store is open.
func (s *Store) connect(servers []string, config *tls.Config) (err error) {
	options := []nats.Option{
		nats.Name("gridrpc"), nats.Timeout(dialWithin), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(redialWait),
		nats.ReconnectJitter(redialWait, redialWait), nats.ReconnectBufSize(-1), nats.PingInterval(pingEach), nats.MaxPingsOutstanding(pingsMax),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // calls return the errors
	}
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	s.conn, err = nats.Connect("nats://"+strings.Join(servers, ",nats://"), options...)
	if err == nil {
		s.js, err = jetstream.New(s.conn)
	}
	return err
}

// find waits for the stream, and makes it if there is none.
func (s *Store) find(ctx context.Context) error {
	for {
		err := s.ask(ctx, func(ctx context.Context) (err error) {
			s.stream, err = s.js.Stream(ctx, s.subjects.name)
			return err
		})
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = s.ask(ctx, func(ctx context.Context) (err error) {
				s.stream, err = s.js.CreateStream(ctx, s.config())
				return err
			})
		}
		if err == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
	}
}

// config returns the configuration of the stream.
func (s *Store) config() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: s.subjects.name, Subjects: []string{s.subjects.name + ".>"}, Storage: jetstream.FileStorage, Replicas: copies,
		MaxMsgsPerSubject: 1,
	}
}

// Leader returns the name of the leader of the stream, and whether all copies exist and have caught
// up.
func (s *Store) Leader(ctx context.Context) (name string, whole bool, err error) {
	c, err := s.cluster(ctx)
	if err != nil {
		return "", false, err
	}
	whole = len(c.Replicas) == copies-1
	for _, r := range c.Replicas {
		whole = whole && r.Current && !r.Offline && r.Lag == 0
	}
	return c.Leader, whole, nil
}

// Close ends the connection.
func (s *Store) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
}

// Put sends the pieces of a file, and then commits it.
func (s *Store) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return err
	}
	in := &source{ctx: ctx, from: r, size: size}
	rec, err := s.send(ctx, in)
	if err != nil {
		s.forgetPieces(rec)
		return err
	}
	return s.commit(ctx, key, rec)
}

// outstanding bounds the messages of one Put, or the requests of one List, that are under way.
// Without a bound the servers drop some.
const outstanding = 8

// send sends the pieces of a file.
func (s *Store) send(ctx context.Context, in *source) (record, error) {
	rec := record{ID: newID(time.Now())}
	first := make([]byte, inlineMax+1)
	n, err := in.fill(first)
	if err != nil {
		return rec, err
	}
	if n <= inlineMax {
		rec.Size, rec.Inline, rec.body = int64(n), true, first[:n]
		return rec, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	free := make(chan struct{}, outstanding)
	for number := int64(0); ; number++ {
		piece := append(make([]byte, 0, pieceSize), first[:n]...)
		more, err := in.fill(piece[n:pieceSize])
		if err != nil {
			stop(err)
		}
		piece = piece[:n+more]
		if len(piece) == 0 || ctx.Err() != nil {
			break
		}
		rec.Size, n = rec.Size+int64(len(piece)), 0
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if err := s.publish(ctx, s.piece(rec.ID, number), piece, nil); err != nil {
				stop(err)
			}
		})
		if len(piece) < pieceSize {
			break
		}
	}
	all.Wait()
	return rec, context.Cause(ctx)
}

// commit makes a file that of its key, in place of an earlier one. A conflict means that there is
// an earlier one, that another Put was faster, or that this message was accepted and its answer
// lost.
func (s *Store) commit(ctx context.Context, key string, rec record) error {
	data, err := rec.encode()
	if err != nil {
		return err
	}
	var last uint64
	var before record
	for {
		err := s.publish(ctx, s.file(key), data, &last)
		if err == nil {
			break
		}
		if !isConflict(err) {
			return fmt.Errorf("jetstream: %s: %w", key, err)
		}
		there, number, err := s.head(ctx, key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			before, last = record{}, 0
		case err != nil:
			return err
		case there.ID == rec.ID:
			s.forgetPieces(before)
			return nil
		default:
			before, last = there, number
		}
	}
	s.forgetPieces(before)
	return nil
}

// forgetPieces deletes the pieces of a file. Pieces that remain after an error do no harm.
func (s *Store) forgetPieces(r record) {
	if r.Size == 0 || r.Inline { // no piece was sent
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	_ = s.forget(ctx, s.pieces(r.ID), 0)
}

// head returns the record of a file, and the number of its message.
func (s *Store) head(ctx context.Context, key string) (record, uint64, error) {
	data, number, err := s.latest(ctx, s.file(key))
	var r record
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return r, 0, fmt.Errorf("jetstream: %s: %w", key, fs.ErrNotExist)
	case err == nil:
		r, err = decodeRecord(data)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("jetstream: %s: %w", key, err)
	}
	return r, number, err
}

// Get requests the record of a file; its reader requests the pieces.
func (s *Store) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return nil, err
	}
	r, _, err := s.head(ctx, key)
	if err != nil {
		return nil, err
	}
	off = min(max(0, off), r.Size)
	left := r.Size - off
	if n >= 0 {
		left = min(n, left)
	}
	return &reader{ctx: ctx, store: s, key: key, rec: r, off: off, left: left}, nil
}

// List requests the subjects, and the record of each.
func (s *Store) List(ctx context.Context, prefix string) ([]checkpoint.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	filter, ok := s.below(prefix)
	if !ok {
		return nil, nil
	}
	var found map[string]uint64
	err := s.ask(ctx, func(ctx context.Context) error {
		info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(filter))
		if err == nil {
			found = info.State.Subjects
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []string
	for subject := range found {
		if key, ok := s.key(subject); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return s.items(ctx, keys)
}

// items returns the items of the files that still exist.
func (s *Store) items(ctx context.Context, keys []string) ([]checkpoint.Item, error) {
	list := make([]checkpoint.Item, len(keys))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	free := make(chan struct{}, outstanding)
	for i, key := range keys {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			r, _, err := s.head(ctx, key)
			switch {
			case err == nil:
				list[i] = checkpoint.Item{Key: key, Size: r.Size}
			case !errors.Is(err, fs.ErrNotExist):
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(i checkpoint.Item) bool { return i.Key == "" }), nil
}

// Delete deletes the record, and then the pieces.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return err
	}
	r, number, err := s.head(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.Is(err, errMalformed):
		return err
	}
	if err := s.forget(ctx, s.file(key), number); err != nil {
		return fmt.Errorf("jetstream: %s: %w", key, err)
	}
	s.forgetPieces(r)
	return nil
}
