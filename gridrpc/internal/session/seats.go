package session

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Seat is a place at a server that a short call of this client has left.
type Seat struct {
	Service string
	Work    float64 // of the call
	Server  Server
	Addr    string
	Asked   mono.Time // when a master named the server
}

// Times of seats.
const (
	SeatShort = 50 * mono.Millisecond  // calls that take longer leave none: asking is little beside them
	SeatIdle  = 100 * mono.Millisecond // for which a seat that nobody takes is held: servers report as often
	SeatAge   = mono.Second            // since a master was asked: a better server may be there by now
)

// seatsMax bounds what is held, where calls differ in their work.
const seatsMax = 256

// Seats is the rule by which a client calls again where it has just called, without asking a master
// (S10). A seat is taken by one call at a time, so a client sends no more calls at once to a server
// than masters have sent there.
type Seats struct {
	seats []Seat      // the one that was left last at the end
	left  []mono.Time // of each
}

// Leave notes that a call has ended that took a while. Whether it leaves a seat depends on that.
func (s *Seats) Leave(seat Seat, took mono.Duration, now mono.Time) {
	s.expire(now)
	if took > SeatShort || now.Sub(seat.Asked) >= SeatAge {
		return
	}
	if len(s.seats) == seatsMax {
		s.seats, s.left = slices.Delete(s.seats, 0, 1), slices.Delete(s.left, 0, 1)
	}
	s.seats, s.left = append(s.seats, seat), append(s.left, now)
}

// Take returns the seat that such a call has left last: those that are not needed are the ones that
// expire.
func (s *Seats) Take(service string, work float64, now mono.Time) (Seat, bool) {
	s.expire(now)
	for i := len(s.seats) - 1; i >= 0; i-- {
		if seat := s.seats[i]; seat.Service == service && seat.Work == work && now.Sub(seat.Asked) < SeatAge {
			s.seats, s.left = slices.Delete(s.seats, i, i+1), slices.Delete(s.left, i, i+1)
			return seat, true
		}
	}
	return Seat{}, false
}

// Drop forgets the seats at an address whose process is lost, or may be.
func (s *Seats) Drop(addr string) {
	n := 0
	for i, seat := range s.seats {
		if seat.Addr != addr {
			s.seats[n], s.left[n] = seat, s.left[i]
			n++
		}
	}
	s.seats, s.left = s.seats[:n], s.left[:n]
}

// expire forgets seats that nobody has taken for too long.
func (s *Seats) expire(now mono.Time) {
	n := 0
	for n < len(s.left) && now.Sub(s.left[n]) >= SeatIdle {
		n++
	}
	if n > 0 {
		s.seats, s.left = slices.Delete(s.seats, 0, n), slices.Delete(s.left, 0, n)
	}
}
