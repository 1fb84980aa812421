package membershiphost

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// hear hands what a datagram says to the rules. A sequence that is not a new one is a copy, or was
// overtaken.
func (v *Driver) hear(b []byte) {
	from, sequence, payload, err := v.cfg.Trust.OpenDatagram(v.birth(), b)
	if err != nil || !v.isPeer(from) || sequence <= v.seen[from] {
		return
	}
	v.seen[from] = sequence
	v.step(membership.Receive{From: int(from), Msg: payload})
}

// isPeer says whether there is a member of that number, and it is another one.
func (v *Driver) isPeer(member uint32) bool {
	return int64(member) < int64(len(v.cfg.Peers)) && int(member) != v.cfg.Roster.Me
}

// helloFor is how long a member may take to say which one it is.
const helloFor = 3 * time.Second

// accept lets members in.
func (v *Driver) accept() {
	v.cfg.Trust.Serve(v.cfg.Place.listener, v.birth(), v.admit)
}

// admit takes the frames of a connection, to its end.
func (v *Driver) admit(conn *socket.Conn) {
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-v.closed:
		case <-done:
		}
		conn.Close()
	}()
	from, err := v.readHello(conn)
	for err == nil {
		var msg []byte
		if msg, err = readFrame(conn); err == nil {
			v.tell(membership.Receive{From: from, Msg: msg})
		}
	}
}

// readHello returns which member a connection comes from.
func (v *Driver) readHello(conn net.Conn) (from int, err error) {
	_ = conn.SetReadDeadline(time.Now().Add(helloFor))
	hello := make([]byte, helloBytes)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return 0, err
	}
	member := binary.LittleEndian.Uint32(hello)
	if !v.isPeer(member) || !v.awaitOpened(member) || binary.LittleEndian.Uint64(hello[4:]) != v.ways[member].to.Load().Birth {
		return 0, fmt.Errorf("%w: member %d", socket.ErrStranger, member)
	}
	return int(member), conn.SetReadDeadline(time.Time{})
}

// awaitOpened waits until a member is known that may have begun before this one has been told:
// refused, it would dial again and again. False: the driver is over.
func (v *Driver) awaitOpened(member uint32) bool {
	select {
	case <-v.ways[member].opened:
		return true
	case <-v.closed:
		return false
	}
}

// birth is that of this member.
func (v *Driver) birth() uint64 { return v.cfg.Peers[v.cfg.Roster.Me].Birth }

// readFrame reads one message. Memory follows the bytes that come, not what a length says.
func readFrame(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(prefix[:]))
	if n > frameMax {
		return nil, fmt.Errorf("message of %d bytes, at most %d", n, int64(frameMax))
	}
	msg, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(msg)) < n {
		err = io.ErrUnexpectedEOF
	}
	return msg, err
}
