package rendezvous

import "errors"

// ErrUnknownKind is the error of a frame whose first byte is no kind of this package.
var ErrUnknownKind = errors.New("control frame of an unknown kind")

// A Host executes the effects of control frames at one process: it finds the request that a frame
// names, passes the frame to the request's rules and carries out their result. A request may have
// ended in the meantime.
type Host interface {
	// Granted continues a send: its receiver has matched it.
	Granted(from int, g Grant)
	// AskedBack withdraws an announcement, unless a receive has matched it.
	AskedBack(from int, w Withdraw)
	// Withdrawn ends a send whose message its own process has requested back.
	Withdrawn(from int, w Withdrawn)
	// Refused ends a send whose communicator is freed or revoked at the receiver.
	Refused(from int, r Refuse)
	// Gone ends a receive whose sender has ended the send.
	Gone(from int, g Gone)
}

// Hear decodes a non-empty control frame from a process, and calls its method of h. A malformed
// frame changes nothing.
func Hear(h Host, from int, frame []byte) (err error) {
	switch frame[0] {
	case KindGrant:
		var g Grant
		if g, err = ReadGrant(frame); err == nil {
			h.Granted(from, g)
		}
	case KindWithdraw:
		var w Withdraw
		if w, err = ReadWithdraw(frame); err == nil {
			h.AskedBack(from, w)
		}
	case KindWithdrawn:
		var w Withdrawn
		if w, err = ReadWithdrawn(frame); err == nil {
			h.Withdrawn(from, w)
		}
	case KindRefuse:
		var r Refuse
		if r, err = ReadRefuse(frame); err == nil {
			h.Refused(from, r)
		}
	case KindGone:
		var g Gone
		if g, err = ReadGone(frame); err == nil {
			h.Gone(from, g)
		}
	default:
		err = ErrUnknownKind
	}
	return err
}
