package gridrpc

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/results"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// Bounds of what a server keeps.
const (
	keepMax   = 7 * 24 * time.Hour
	keptMax   = 256      // calls
	shelfFrom = 64 << 10 // bytes of a result that is held in the store, if there is one
)

// kept is a call that a server keeps.
type kept struct {
	call    session.CallID
	attempt uint32
	service string
	codec   Codec
	done    bool
}

func (k kept) toWire(me *pb.Ref) *pb.Kept {
	return &pb.Kept{Call: k.call[:], Attempt: k.attempt, Server: me, Service: k.service, Codec: string(k.codec), Done: k.done}
}

// keeping returns all that is kept here, in an order.
func (s *Server) keeping() []kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keptNow()
}

// keptNow is keeping for who has the lock.
func (s *Server) keptNow() (list []kept) {
	for id, a := range s.keeps {
		a.mu.Lock()
		if a.keep > 0 && !a.withdrawn {
			list = append(list, kept{a.call, a.number, a.service, a.codec, a.done})
		} else { // for good
			delete(s.keeps, id)
		}
		a.mu.Unlock()
	}
	slices.SortFunc(list, func(x, y kept) int { return bytes.Compare(x.call[:], y.call[:]) })
	return list
}

// hold keeps the outcome of an attempt that has ended, if that was asked for.
func (s *Server) hold(a *attempt) {
	a.mu.Lock()
	keep, result := a.keep, a.result
	a.mu.Unlock()
	if keep == 0 {
		return
	}
	if len(result) > shelfFrom && s.shelf != nil {
		s.putAway(a, result, keep)
	}
	time.AfterFunc(keep, func() { s.letGo(a) })
}

// putAway holds a result in the store. Without success it stays in memory.
func (s *Server) putAway(a *attempt, result []byte, keep time.Duration) {
	ctx, cancel := context.WithTimeout(s.ctx, storeWithin)
	defer cancel()
	r := results.Record{Call: callText(a.call), Attempt: a.number, Service: a.service, Codec: string(a.codec), Until: time.Now().Add(keep)}
	if err := s.shelf.Put(ctx, r, result); err != nil {
		s.log.Printf("the result of call %.8s is held in memory: %v", callText(a.call), err)
		return
	}
	a.mu.Lock()
	a.shelved = true
	if a.streams == 0 {
		a.result = nil
	}
	unwanted := a.keep == 0
	a.mu.Unlock()
	if unwanted { // it was cancelled meanwhile
		s.unshelve(a)
	}
}

// errLetGo is why a call cannot be attached to any more.
var errLetGo = errors.New("its outcome is not held any more")

// fetch has the result of a call be in memory for a stream that is counted already.
func (s *Server) fetch(ctx context.Context, a *attempt) error {
	a.mu.Lock()
	spent, away := a.spent, a.done && a.shelved && a.result == nil
	a.mu.Unlock()
	switch {
	case spent:
		return errLetGo
	case !away:
		return nil
	}
	result, err := s.shelf.Get(ctx, callText(a.call), a.number)
	if err == nil {
		a.update(func() { a.result = result })
	}
	return err
}

// unfetched answers who cannot get a result: what is not there, or not whole, will not be; a store
// may only be slow.
func (s *Server) unfetched(stream callStream, a *attempt, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, results.ErrMalformed):
		s.log.Printf("the result of call %.8s is lost: %v", callText(a.call), err)
		s.letGo(a)
	case !errors.Is(err, errLetGo):
		return status.Error(codes.Unavailable, err.Error())
	}
	return refuse(stream, pb.Refusal_STALE, err.Error())
}

// letGo ends the time for which an outcome is held. Whom it is being told hears it to its end.
func (s *Server) letGo(a *attempt) {
	a.mu.Lock()
	a.keep, a.over = 0, true
	attended := a.streams > 0
	if !attended {
		a.spent, a.result = true, nil
	}
	a.mu.Unlock()
	s.unshelve(a)
	s.cleanUp(a)
	s.changed()
	if !attended {
		s.giveUp(a)
	}
}

// unshelve deletes what the store has of a result.
func (s *Server) unshelve(a *attempt) {
	a.mu.Lock()
	was := a.shelved
	a.shelved = false
	a.mu.Unlock()
	if !was {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	if err := s.shelf.Remove(ctx, callText(a.call), a.number); err != nil {
		s.log.Printf("the result of call %.8s stays in the store: %v", callText(a.call), err)
	}
}

// takeOver goes on holding what an incarnation before this one has put into the store.
func (s *Server) takeOver(ctx context.Context) {
	if s.shelf == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	all, err := s.shelf.List(ctx)
	if err != nil {
		s.log.Printf("some results are held no longer: %v", err)
	}
	for _, r := range all {
		id, err := parseCallID(r.Call)
		if err != nil {
			continue
		}
		a := &attempt{
			call: id, number: r.Attempt, service: r.Service, codec: Codec(r.Codec),
			done: true, shelved: true, keep: max(1, time.Until(r.Until)), over: true,
		}
		a.limit(s.ctx, 0)
		s.mu.Lock()
		if old := s.attempts[id]; old == nil || old.number < a.number {
			s.attempts[id], s.keeps[id] = a, a
			s.desk.Adopt(id, a.number)
		}
		s.mu.Unlock()
		time.AfterFunc(a.keep, func() { s.letGo(a) })
	}
}
