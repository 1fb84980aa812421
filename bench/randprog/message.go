package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// messageOps are those of two ranks, or of many that each name one. Those that stay are
// made of parts that each fail by the death of their own peer alone.
var messageOps = []*operation{
	{name: "shift", weight: 6, run: runShift},
	{name: "swap", weight: 4, run: pairwise(swap), stays: true},
	{name: "swap-in-place", weight: 3, run: pairwise(swapInPlace), stays: true},
	{name: "pingpong", weight: 6, run: pairwise(pingpong), stays: true},
	{name: "exchange", weight: 5, run: runExchange, stays: true},
	{name: "exchange-any", weight: 4, run: runExchangeAny},
	{name: "fan-in", weight: 4, run: runFanIn},
	{name: "wait-any", weight: 4, run: runStar(waitAny), stays: true},
	{name: "wait-some", weight: 3, run: runStar(waitSome), stays: true},
	{name: "test-any", weight: 3, run: runStar(testAny), stays: true},
	{name: "ssend-ring", weight: 5, run: runSsendRing, stays: true},
	{name: "persistent", weight: 4, run: pairwise(persistent), stays: true},
	{name: "values", weight: 3, run: pairwise(values), stays: true},
	{name: "records", weight: 3, run: pairwise(records), stays: true},
	{name: "mprobe", weight: 4, run: pairwise(mprobe), stays: true},
	{name: "iprobe", weight: 2, run: pairwise(iprobe), stays: true},
	{name: "cancel", weight: 3, run: runCancel, stays: true},
	{name: "free-request", weight: 3, run: pairwise(freeRequest), stays: true},
	{name: "in-order", weight: 4, run: pairwise(inOrder), stays: true},
	{name: "short-waits", weight: 4, run: pairwise(shortWaits), stays: true},
	{name: "waiters", weight: 4, run: pairwise(waiters), stays: true},
	{name: "pending", weight: 4, run: pairwise(receiveAny), stays: true},
	{name: "truncated", weight: 1, run: pairwise(truncated), stays: true},
	{name: "isend-later", weight: 4, run: pairwise(isendLater), stays: true},
	{name: "never-received", weight: 2, run: runNeverReceived, stays: true},
	{name: "nobody", weight: 1, run: runNobody, stays: true},
	{name: "wrong-arguments", weight: 1, run: runWrongArguments, stays: true},
	{name: "compute", weight: 2, run: runCompute, stays: true},
}

// acked is how many deaths this member has acknowledged.
func (s *step) acked() int {
	n, _ := s.c.AckFailed(0)
	return n
}

// wild is any rank as a sender. A member that has acknowledged a death is told no more
// of it, and would wait for the dead.
func (s *step) wild() (int, error) {
	if s.acked() > 0 {
		return 0, fmt.Errorf("deaths were acknowledged here: %w", ulfm.ErrProcFailed)
	}
	return comm.Any, nil
}

// shift sends to a rank at some distance, and receives from the one at the other side.
func runShift(s *step) error {
	n := s.c.Size()
	by := s.rng.IntN(n)
	to, from := (s.c.Rank()+by)%n, (s.c.Rank()+n-by)%n
	for k := range 1 + s.rng.IntN(tagsEach) {
		size, source := s.length(), from
		if one(s.rng, 2) {
			var err error
			if source, err = s.wild(); err != nil {
				return err
			}
		}
		in := make([]uint64, size)
		st, err := comm.SendRecv(s.ctx, s.to(to, k), s.words(size), s.from(source, k), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, from, size); err != nil {
			return err
		}
	}
	return nil
}

// got checks a message.
func (s *step) got(st comm.Status, in []uint64, from, size int) error {
	if st.Source != from || st.Count != size {
		return s.broken("%d numbers from %d, want %d from %d", st.Count, st.Source, size, from)
	}
	return took(s, in[:size], from, 0)
}

// pairwise has ranks of a random pairing do something, one of each first.
func pairwise(f func(s *step, peer int, first bool) error) func(*step) error {
	return func(s *step) error {
		order := s.rng.Perm(s.c.Size())
		at := slices.Index(order, s.c.Rank())
		if at^1 >= len(order) {
			return nil
		}
		return f(s, order[at^1], at&1 == 0)
	}
}

func swap(s *step, peer int, _ bool) error {
	for k := range 1 + s.rng.IntN(4) {
		size := s.length()
		in := make([]uint64, size)
		st, err := comm.SendRecv(s.ctx, s.to(peer, k), s.words(size), s.from(peer, k), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

// swapInPlace sends what it receives over.
func swapInPlace(s *step, peer int, _ bool) error {
	size := s.length()
	v := s.words(size)
	st, err := comm.SendRecvReplace(s.ctx, s.to(peer, 0), s.from(peer, 0), v)
	if err != nil {
		return err
	}
	return s.got(st, v, peer, size)
}

func pingpong(s *step, peer int, first bool) error {
	synchronous, probing := one(s.rng, 2), one(s.rng, 3)
	for k := range 1 + s.rng.IntN(6) {
		size := s.length()
		if first == (k%2 == 0) {
			send := comm.Send[uint64]
			if synchronous {
				send = comm.Ssend[uint64]
			}
			if err := send(s.ctx, s.to(peer, 0), s.words(size)); err != nil {
				return err
			}
			continue
		}
		if probing {
			st, err := comm.Probe(s.ctx, s.from(peer, 0))
			if err != nil {
				return err
			}
			if st.Count != 8*size || st.Source != peer {
				return s.broken("probed %d bytes of %d, want %d of %d", st.Count, st.Source, 8*size, peer)
			}
		}
		in := make([]uint64, size)
		st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

func runSsendRing(s *step) error {
	n, me := s.c.Size(), s.c.Rank()
	by := s.rng.IntN(n)
	size := s.length()
	var b bundle
	b.send(s, (me+by)%n, 0, size, true)
	b.receive(s, (me+n-by)%n, 0, size)
	return b.waitEach(s, size)
}

// persistent starts a send and a receive several times.
func persistent(s *step, peer int, _ bool) error {
	size := s.length()
	in := make([]uint64, size)
	out := comm.SendInit(s.to(peer, 0), s.words(size))
	back := comm.RecvInit(s.from(peer, 0), in)
	defer func() { _, _ = out.Free(), back.Free() }()
	for range 1 + s.rng.IntN(4) {
		clear(in)
		if err := errors.Join(back.Start(), out.Start()); err != nil {
			return err
		}
		st, err := back.Wait(s.ctx)
		_, err2 := out.Wait(s.ctx)
		for _, e := range []error{err, err2} {
			if e != nil {
				return errors.Join(s.blamed(e, peer), e)
			}
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

// A letter is a value of several kinds.
type letter struct {
	From  int
	Names map[string]int
	Words []uint64
}

func (s *step) letter(rank, size int) letter {
	proc := s.g.procs[rank]
	return letter{proc, map[string]int{s.name: proc}, vector[uint64](s.id, proc, size)}
}

func (s *step) read(l letter, rank, size int) error {
	if want := s.letter(rank, size); l.From != want.From || l.Names[s.name] != want.From || len(l.Names) != 1 || !slices.Equal(l.Words, want.Words) {
		return s.broken("a letter of %d with %d words, names %v; want one of %d with %d", l.From, len(l.Words), l.Names, want.From, size)
	}
	return nil
}

func (s *step) sendLetter(peer, size int) error {
	l := s.letter(s.c.Rank(), size)
	if one(s.own, 2) {
		_, err := comm.IsendValue(s.to(peer, 0), l).Wait(s.ctx)
		return err
	}
	return comm.SendValue(s.ctx, s.to(peer, 0), l)
}

func values(s *step, peer int, first bool) error {
	size := min(s.length(), 8193)
	for range 1 + s.rng.IntN(2) {
		if first {
			if err := s.sendLetter(peer, size); err != nil {
				return err
			}
		} else {
			l, _, err := comm.RecvValue[letter](s.ctx, s.from(peer, 0))
			if err != nil {
				return err
			}
			if err := s.read(l, peer, size); err != nil {
				return err
			}
		}
		first = !first
	}
	return nil
}

// A triple is a record with a hole.
type triple struct {
	A uint64
	B uint8
	C [2]float32
}

func (s *step) triple(proc, i int) triple {
	w := word(s.id, proc, i)
	return triple{w, uint8(w), [2]float32{float32(w % 100), float32(i)}}
}

func (s *step) triples(proc, n int) []triple {
	v := make([]triple, n)
	for i := range v {
		v[i] = s.triple(proc, i)
	}
	return v
}

// tookTriples checks what came from a rank.
func (s *step) tookTriples(v []triple, rank int) error {
	for i, got := range v {
		if want := s.triple(s.g.procs[rank], i); got != want {
			return s.broken("record %d of %d from rank %d is %v, want %v", i, len(v), rank, got, want)
		}
	}
	return nil
}

func records(s *step, peer int, first bool) error {
	size := min(s.length(), 8193)
	if first {
		return comm.Send(s.ctx, s.to(peer, 0), s.triples(s.me(), size))
	}
	in := make([]triple, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	if st.Count != size {
		return s.broken("%d records, want %d", st.Count, size)
	}
	return s.tookTriples(in, peer)
}

// mprobe takes messages out of their order.
func mprobe(s *step, peer int, first bool) error {
	const count = 3
	size := s.length()
	order := s.rng.Perm(count)
	if first {
		var b bundle
		for k := range count {
			b.send(s, peer, k, size, one(s.own, 2))
		}
		return b.waitEach(s, size)
	}
	taken := map[int]*comm.Message{}
	for _, k := range order {
		m, st, err := comm.Mprobe(s.ctx, s.from(peer, k))
		if err != nil {
			return err
		}
		if st.Count != 8*size || st.Tag != s.tag+k {
			return s.broken("mprobe of tag %d: %d bytes, tag %d, want %d bytes", s.tag+k, st.Count, st.Tag, 8*size)
		}
		taken[k] = m
	}
	var firstErr error
	for k := range count { // all of them: the sender may wait for each
		in := make([]uint64, size)
		st, err := comm.MRecv(s.ctx, taken[k], in)
		switch {
		case err != nil && firstErr == nil:
			firstErr = err
		case err == nil:
			if err := s.got(st, in, peer, size); err != nil {
				return err
			}
		}
	}
	return firstErr
}

func iprobe(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	for {
		st, found, err := comm.Iprobe(s.from(peer, 0))
		if err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if found {
			if st.Count != 8*size {
				return s.broken("iprobe: %d bytes, want %d", st.Count, 8*size)
			}
			break
		}
		runtime.Gosched()
	}
	in := make([]uint64, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	return s.got(st, in, peer, size)
}

// pause lets some time go by, another one at each rank.
func (s *step) pause() {
	if d := time.Duration(s.own.IntN(300)) * time.Microsecond; d > 50*time.Microsecond {
		time.Sleep(d)
	}
}

func runCompute(s *step) error {
	s.pause()
	return nil
}

// cancel withdraws a receive of what nobody sends.
func runCancel(s *step) error {
	peer := s.own.IntN(s.c.Size())
	source := peer
	if one(s.own, 2) {
		source = comm.Any
	}
	r := comm.Irecv(s.from(source, 0), make([]uint64, 5))
	if r.Cancel() {
		if _, err := r.Wait(s.ctx); err != nil && !errors.Is(err, comm.ErrInactive) {
			return s.broken("a wait for a cancelled receive: %v", err)
		}
		return nil
	}
	_, over, err := r.Test()
	if err == nil {
		return s.broken("a receive of what nobody sends was not cancelled; over: %v", over)
	}
	if classify(err) == classPending {
		r.Cancel()
	}
	return err
}

// freeRequest sends and never waits.
func freeRequest(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		r := comm.Isend(s.to(peer, 0), s.words(size))
		if err := r.Free(); err != nil && !errors.Is(err, comm.ErrInactive) {
			return err
		}
		return nil
	}
	in := make([]uint64, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	return s.got(st, in, peer, size)
}

// inOrder sends messages of all lengths with one tag: they come in that order, and one that
// is lost with its sender is an error in its place.
func inOrder(s *step, peer int, first bool) error {
	var sizes []int
	for range 2 + s.rng.IntN(4) {
		sizes = append(sizes, s.length())
	}
	if first {
		var b bundle
		for _, size := range sizes {
			b.send(s, peer, 0, size, false)
		}
		return b.waitEach(s, 0)
	}
	s.pause()
	var firstErr error
	for _, size := range sizes {
		in := make([]uint64, max(size, slices.Max(sizes)))
		st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
		switch {
		case err != nil && firstErr == nil:
			firstErr = err
		case err == nil:
			if err := s.got(st, in, peer, size); err != nil {
				return err
			}
		}
	}
	return firstErr
}

// shortWaits receives by waits that end before the message comes.
func shortWaits(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size)
	for {
		ctx, cancel := context.WithTimeout(s.ctx, s.shortly(s.own))
		st, err := comm.Recv(ctx, s.from(peer, 0), in)
		ended := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return s.got(st, in, peer, size)
		case s.ctx.Err() != nil || !ended || !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
}

// waiters has several goroutines of a rank wait at once. Some give up soon, and make no other
// call; what the others wait for comes one after the other, and late.
func waiters(s *step, peer int, first bool) error {
	count, size := 3+s.rng.IntN(4), s.length()
	soon := make([]bool, count)
	for k := range soon {
		soon[k] = one(s.rng, 2)
	}
	if first {
		for k := range count {
			if soon[k] {
				continue
			}
			s.pause()
			if err := comm.Send(s.ctx, s.to(peer, k), s.words(size)); err != nil {
				return err
			}
		}
		return nil
	}
	limits, errs := make([]time.Duration, count), make([]error, count)
	for k := range limits {
		limits[k] = s.shortly(s.own)
	}
	var all sync.WaitGroup
	for k := range count {
		all.Go(func() {
			if soon[k] {
				errs[k] = s.waitInVain(peer, k, limits[k])
				return
			}
			in := make([]uint64, size)
			st, err := comm.Recv(s.ctx, s.from(peer, k), in)
			if err == nil {
				err = s.got(st, in, peer, size)
			}
			errs[k] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// waitInVain gives up a receive of what nobody sends.
func (s *step) waitInVain(peer, k int, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	_, err := comm.Recv(ctx, s.from(peer, k), make([]uint64, 1))
	switch {
	case err == nil:
		return s.broken("received what nobody sends")
	case errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil:
		return nil
	}
	return err
}

// shortly is a time after which a wait gives up.
func (s *step) shortly(rng *rand.Rand) time.Duration {
	return time.Duration(rng.IntN(200)) * time.Microsecond
}

// receiveAny receives from any rank what one will send, and goes on when others die.
func receiveAny(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size)
	r := comm.Irecv(s.from(comm.Any, 0), in)
	for {
		// Looked at first: a peer whose death is acknowledged here interrupts nothing.
		if s.isDead(peer) {
			if r.Cancel() {
				return fmt.Errorf("the peer is dead: %w", ulfm.ErrProcFailed)
			}
		}
		st, err := r.Wait(s.ctx)
		switch classify(err) {
		case "":
			return s.got(st, in, peer, size)
		case classPending:
			if s.isDead(peer) {
				r.Cancel()
				return fmt.Errorf("the peer is dead: %w", ulfm.ErrProcFailed)
			}
			if _, err := s.c.AckFailed(s.c.Size()); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (s *step) isDead(rank int) bool {
	return slices.Contains(s.c.GetFailed().Processes(), s.g.procs[rank])
}

func truncated(s *step, peer int, first bool) error {
	size := 1 + s.length()
	if first {
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size/2)
	_, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	switch {
	case errors.Is(err, comm.ErrTruncated):
		return took(s, in, peer, 0)
	case err == nil:
		return s.broken("%d numbers fit into %d", size, len(in))
	}
	return err
}

// isendLater leaves a send and a receive under way.
func isendLater(s *step, peer int, _ bool) error {
	size := s.length()
	b := new(bundle)
	b.receive(s, peer, 0, size)
	b.send(s, peer, 0, size, one(s.rng, 2))
	s.m.later(s, func(s *step) error { return b.waitEach(s, size) })
	return nil
}

// neverReceived sends what nobody asks for, and does not wait: where there is no room a
// send of whatever length waits for its receive.
func runNeverReceived(s *step) error {
	r := comm.Isend(s.to(s.own.IntN(s.c.Size()), 0), s.words(3))
	if err := r.Free(); !errors.Is(err, comm.ErrInactive) {
		return err
	}
	return nil
}

// nobody sends to nobody, and to itself.
func runNobody(s *step) error {
	st, err := comm.SendRecv(s.ctx, s.to(comm.None, 0), s.words(9), s.from(comm.None, 0), make([]uint64, 9))
	if err == nil && (st.Count != 0 || st.Source != comm.None) {
		return s.broken("%d numbers from nobody, from %d", st.Count, st.Source)
	}
	if err != nil {
		return err
	}
	size, me := s.length(), s.c.Rank()
	var b bundle
	b.send(s, me, 1, size, one(s.own, 2))
	b.receive(s, me, 1, size)
	return b.waitEach(s, size)
}

// wrongArguments makes calls that nobody else hears of.
func runWrongArguments(s *step) error {
	for _, c := range []struct {
		err, want error
	}{
		{comm.Send(s.ctx, s.to(s.c.Size(), 0), s.words(3)), comm.ErrRank},
		{comm.Send(s.ctx, s.c.To(0).Tag(-1), s.words(3)), comm.ErrTag},
	} {
		if class := classify(c.err); class == classRevoked || class == classFenced {
			return c.err
		}
		if !errors.Is(c.err, c.want) {
			return s.broken("a wrong argument: %v, want %v", c.err, c.want)
		}
	}
	return nil
}
