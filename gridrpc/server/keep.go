package server

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/results"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// Bounds of the kept calls of a server.
const (
	keptMax   = 256      // calls
	shelfFrom = 64 << 10 // bytes of a result that is held in the store, if there is one
)

// kept is a call that a server keeps.
type kept struct {
	call    session.CallID
	attempt uint32
	service string
	codec   gridrpc.Codec
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

// keptNow is keeping for a caller that holds the lock.
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

// hold keeps the outcome of an attempt that has ended, if its client has requested that.
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

// putAway stores a result. After a failure the result stays in memory.
func (s *Server) putAway(a *attempt, result []byte, keep time.Duration) {
	ctx, cancel := context.WithTimeout(s.ctx, storeWithin)
	defer cancel()
	r := results.Record{Call: a.call.Text(), Attempt: a.number, Service: a.service, Codec: string(a.codec), Until: time.Now().Add(keep)}
	if err := s.shelf.Put(ctx, r, result); err != nil {
		s.log.Printf("the result of call %.8s is held in memory: %v", a.call.Text(), err)
		return
	}
	a.mu.Lock()
	a.shelved = true
	if a.streams == 0 {
		a.result = nil
	}
	unwanted := a.keep == 0
	a.mu.Unlock()
	if unwanted { // cancelled meanwhile
		s.unshelve(a)
	}
}

// errLetGo is why a call cannot be attached to any more.
var errLetGo = errors.New("its outcome is not held any more")

// fetch loads the result of a call for a stream, which is counted already.
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
	result, err := s.shelf.Get(ctx, a.call.Text(), a.number)
	if err == nil {
		a.update(func() { a.result = result })
	}
	return err
}

// unfetched answers a client that cannot get a result. A result that is missing or torn in the
// store is lost; after other errors the client tries again, because a store may be slow.
func (s *Server) unfetched(stream callStream, a *attempt, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, results.ErrMalformed):
		s.log.Printf("the result of call %.8s is lost: %v", a.call.Text(), err)
		s.letGo(a)
	case !errors.Is(err, errLetGo):
		return status.Error(codes.Unavailable, err.Error())
	}
	return refuse(stream, pb.Refusal_STALE, err.Error())
}

// letGo ends the time for which an outcome is held. A client that is receiving the outcome
// receives all of it.
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

// unshelve deletes a result from the store.
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
	if err := s.shelf.Remove(ctx, a.call.Text(), a.number); err != nil {
		s.log.Printf("the result of call %.8s stays in the store: %v", a.call.Text(), err)
	}
}

// takeOver holds the results that an earlier incarnation has put into the store.
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
		id, err := session.ParseCallID(r.Call)
		if err != nil {
			continue
		}
		a := &attempt{
			call: id, number: r.Attempt, service: r.Service, codec: gridrpc.Codec(r.Codec),
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
