package jetstream

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// abandonedAfter is how old a Put is that nobody goes on with.
const abandonedAfter = 24 * time.Hour

// Sweep takes away the pieces that processes have left which died within a Put, a day ago or more.
func (s *Store) Sweep(ctx context.Context) error {
	return s.sweep(ctx, time.Now().Add(-abandonedAfter))
}

// sweep takes away the pieces of Puts that had begun before then and have no file. Which there are
// is asked before which files there are: a Put that ends in between has one.
func (s *Store) sweep(ctx context.Context, before time.Time) error {
	var pieces map[string]uint64
	err := s.ask(ctx, func(ctx context.Context) error {
		info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(s.name+".piece.>"))
		if err == nil {
			pieces = info.State.Subjects
		}
		return err
	})
	if err != nil {
		return err
	}
	old := map[string]bool{}
	for subject := range pieces {
		if id, ok := s.idOf(subject); ok && begun(id).Before(before) {
			old[id] = true
		}
	}
	if len(old) == 0 {
		return nil
	}
	items, err := s.List(ctx, "")
	if err != nil {
		return err
	}
	for _, i := range items {
		r, _, err := s.head(ctx, i.Key)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(old, r.ID)
	}
	for id := range old {
		err = errors.Join(err, s.forget(ctx, s.pieces(id), 0))
	}
	return err
}
