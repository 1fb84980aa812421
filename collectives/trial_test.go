package collectives_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A trial is one collective at one rank: its inputs, and the expected result. Slices in parts are
// parts that follow each other.
type trial[T comparable] struct {
	name   string
	src    [][]T
	before [][]T // in dst before the call; nil: holes
	want   [][]T // in dst afterwards: as long as dst
	unused bool  // by the call: dst, which may also be nil
	layout sched.Layout
	places []place // as many at all ranks

	blocking func(ctx context.Context, w *comm.Comm, dst, src []T) error
	twin     func(w *comm.Comm, dst, src []T) comm.Request // nil: there is none
}

// A place gives the starts of dst and src in a slice that has room for both, one of them inside of
// the other: the call is in place.
type place struct {
	dst, src int
	// elsewhere: only at other ranks; this rank makes the ordinary call.
	elsewhere bool
}

// call makes a call of a trial, blocking or not, to its end.
func (c *trial[T]) call(ctx context.Context, w *comm.Comm, twin bool, dst, src []T) error {
	if twin {
		return ended(ctx, c.twin(w, dst, src))
	}
	return c.blocking(ctx, w, dst, src)
}

// A desk is the memory of a rank for its trials, which is used again and again. Each
// slice has a hole at both ends that nobody may touch.
type desk[T comparable] struct {
	hole     T
	dst, src []T
}

// desk is one for a call of a trial alone.
func (c *trial[T]) desk(hole T) *desk[T] {
	d := &desk[T]{hole: hole}
	d.lay(&d.src, size(c.src), 0, c.src)
	d.lay(&d.dst, size(c.want), 0, c.before)
	return d
}

// lay gives a slice elems elements between its ends: the parts from a place on, and
// holes around them.
func (d *desk[T]) lay(buf *[]T, elems, at int, parts [][]T) {
	all := slices.Grow((*buf)[:0], elems+2)[:elems+2]
	at++
	fill(all[:at], d.hole)
	for _, part := range parts {
		at += copy(all[at:], part)
	}
	fill(all[at:], d.hole)
	*buf = all
}

// fill doubles the filled part, which is faster than a loop.
func fill[T any](s []T, v T) {
	for done := copy(s, []T{v}); done > 0 && done < len(s); {
		done += copy(s[done:], s[:done])
	}
}

// inner is a slice without its ends.
func inner[T any](all []T) []T { return all[1 : len(all)-1 : len(all)-1] }

// intact reports whether the ends of both slices are unchanged.
func (d *desk[T]) intact() bool {
	return d.dst[0] == d.hole && d.dst[len(d.dst)-1] == d.hole && d.src[0] == d.hole && d.src[len(d.src)-1] == d.hole
}

// size is how many elements parts have.
func size[T any](parts [][]T) (elems int) {
	for _, part := range parts {
		elems += len(part)
	}
	return elems
}

// cut returns elements from to to of a slice in parts.
func cut[T any](parts [][]T, from, to int) (out [][]T) {
	for _, part := range parts {
		if lo, hi := max(from, 0), min(to, len(part)); lo < hi {
			out = append(out, part[lo:hi])
		}
		from, to = from-len(part), to-len(part)
	}
	return out
}

// differs is the first place where a slice differs from the parts; -1: nowhere.
func differs[T comparable](got []T, parts [][]T) int {
	at := 0
	for _, part := range parts {
		here := got[min(at, len(got)):min(at+len(part), len(got))]
		if len(here) < len(part) || !bytes.Equal(byteview.Bytes(here), byteview.Bytes(part)) { // equal bytes are most, and fast
			for i, v := range here {
				if v != part[i] {
					return at + i
				}
			}
			if len(here) < len(part) {
				return len(got)
			}
		}
		at += len(part)
	}
	if at < len(got) {
		return at
	}
	return -1
}

// A session has the state that the trials of a rank share, and their count.
type session struct {
	t   *testing.T
	ctx context.Context
	w   *comm.Comm
	// about describes the subject of the session, besides the trial's name.
	about func() string
	takes layouts // of blocks
	only  int     // the trial to make, or everyTrial

	calls, compared, failures int64
}

// try makes one trial every way: blocking and not, and both in place.
func (d *desk[T]) try(s *session, c *trial[T]) {
	d.apart(s, c, "", inner[T])
	for _, at := range c.places {
		switch {
		case at.elsewhere && c.unused:
			d.apart(s, c, ", in place elsewhere, without dst", func([]T) []T { return nil })
		case at.elsewhere:
			d.apart(s, c, ", in place elsewhere", inner[T])
		default:
			d.together(s, c, at)
		}
	}
}

// apart makes a trial with two slices; passed is the argument made of the first.
func (d *desk[T]) apart(s *session, c *trial[T], how string, passed func([]T) []T) {
	d.lay(&d.src, size(c.src), 0, c.src)
	for _, twin := range c.twins() {
		d.lay(&d.dst, size(c.want), 0, c.before)
		err := c.call(s.ctx, s.w, twin, passed(d.dst), inner(d.src))
		d.check(s, c, how, twin, err, c.want)
	}
	if at := differs(inner(d.src), c.src); at >= 0 {
		s.failed(c.name+how, fmt.Sprintf("src was changed at %d", at))
	}
}

// together makes a trial in place.
func (d *desk[T]) together(s *session, c *trial[T], at place) {
	elems, from, to := size(c.src), at.dst, at.dst+size(c.want)
	want := slices.Concat(cut(c.src, 0, from), c.want, cut(c.src, to, elems))
	d.lay(&d.src, 0, 0, nil)
	for _, twin := range c.twins() {
		d.lay(&d.dst, max(to, at.src+elems), at.src, c.src)
		all := inner(d.dst)
		err := c.call(s.ctx, s.w, twin, all[from:to:to], all[at.src:at.src+elems:at.src+elems])
		d.check(s, c, fmt.Sprintf(" in place, dst at %d, src at %d", at.dst, at.src), twin, err, want)
	}
}

// twins are the two ways to call, or the one there is.
func (c *trial[T]) twins() []bool {
	if c.twin == nil {
		return []bool{false}
	}
	return []bool{false, true}
}

// check compares every element that a call left in dst, and the ends.
func (d *desk[T]) check(s *session, c *trial[T], how string, twin bool, err error, want [][]T) {
	if twin {
		how += ", not blocking"
	}
	s.calls++
	s.compared += int64(len(d.dst))
	if err != nil {
		s.failed(c.name+how, err.Error())
		return
	}
	if at := differs(inner(d.dst), want); at >= 0 {
		s.failed(c.name+how, fmt.Sprintf("differs at %d of %d", at, size(want)))
	}
	if !d.intact() {
		s.failed(c.name+how, "wrote beyond its slice")
	}
}

// failuresMax is how many failures of a session a rank reports: a broken case fails often.
const failuresMax = 3

func (s *session) failed(call, why string) {
	s.failures++
	if s.failures > failuresMax {
		return
	}
	s.t.Errorf("%s, %s, at rank %d: %s", call, s.about(), s.w.Rank(), why)
}

// TestTrialsNoticeEachChange: one element that is wrong, missing or beyond, or a hole at
// an end that is none, is noticed and named.
func TestTrialsNoticeEachChange(t *testing.T) {
	parts := [][]int{{1, 2}, {}, {3}, {4, 5, 6}}
	for i := range 6 {
		d := desk[int]{hole: -1}
		d.lay(&d.dst, 6, 0, parts)
		d.lay(&d.src, 0, 0, nil)
		if at := differs(inner(d.dst), parts); at != -1 || !d.intact() {
			t.Fatalf("differs at %d, ends intact: %v", at, d.intact())
		}
		d.dst[1+i]++
		if at := differs(inner(d.dst), parts); at != i {
			t.Errorf("differs at %d, want %d", at, i)
		}
		if at := differs([]int{1, 2, 3, 4, 5, 6}[:i], parts); at != i {
			t.Errorf("%d elements differ at %d", i, at)
		}
		if got, want := slices.Concat(cut(parts, i/2, i)...), []int{1, 2, 3, 4, 5, 6}[i/2:i]; !slices.Equal(got, want) {
			t.Errorf("cut from %d to %d: %v", i/2, i, got)
		}
	}
	if at := differs([]int{1, 2, 3, 4, 5, 6, 7}, parts); at != 6 {
		t.Errorf("7 elements differ at %d", at)
	}
	for i := range 4 {
		d := desk[int]{hole: -1, dst: []int{-1, -1}, src: []int{-1, -1}}
		*[]*int{&d.dst[0], &d.dst[1], &d.src[0], &d.src[1]}[i] = 7
		if d.intact() {
			t.Errorf("end %d was written to unnoticed", i)
		}
	}
}
