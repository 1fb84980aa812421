package jetstream

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// abandonedAfter is the age at which a Put without a file counts as abandoned.
const abandonedAfter = 24 * time.Hour

// Sweep deletes the pieces of processes that died within a Put at least a day ago.
func (s *Store) Sweep(ctx context.Context) error {
	return s.sweep(ctx, time.Now().Add(-abandonedAfter))
}

// sweep deletes the pieces of Puts that began before a time and have no file. It lists pieces
// before files: a Put that ends in between has a file.
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
