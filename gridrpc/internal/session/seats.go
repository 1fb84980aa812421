package session

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Seat is a place at a server that a short call of this client has freed.
type Seat struct {
	Service string
	Work    float64 // of the call
	Server  Server
	Addr    string
	Asked   mono.Time // when a master named the server
}

// Times of seats.
const (
	SeatShort = 50 * mono.Millisecond  // longer calls leave no seat: a request to a master costs little beside them
	SeatIdle  = 100 * mono.Millisecond // time for which an unused seat is held, the interval of servers' reports
	SeatAge   = mono.Second            // since the request to a master: a better server may exist by now
)

// seatsMax bounds the number of seats, for calls with different work.
const seatsMax = 256

// Seats is the rule by which a client calls again at a server without a request to a master (S10).
// A seat is used by one call at a time. So a client sends no more simultaneous calls to a server
// than masters have assigned.
type Seats struct {
	seats []Seat      // the latest one is the last
	left  []mono.Time // of each
}

// Leave records the end of a call. The call leaves a seat if it was short.
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

// Take returns the latest seat for such a call, so that unneeded seats are the ones that expire.
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

// Drop removes the seats at an address after a possible loss of its process.
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

// expire removes seats that were unused for too long.
func (s *Seats) expire(now mono.Time) {
	n := 0
	for n < len(s.left) && now.Sub(s.left[n]) >= SeatIdle {
		n++
	}
	if n > 0 {
		s.seats, s.left = slices.Delete(s.seats, 0, n), slices.Delete(s.left, 0, n)
	}
}
