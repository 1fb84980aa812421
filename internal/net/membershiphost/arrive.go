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

// hear opens a datagram and steps the rules with its message. It drops a datagram whose sequence is
// not above the last one from that sender: a copy, or one that a later datagram has overtaken.
func (v *Driver) hear(b []byte) {
	from, sequence, payload, err := v.cfg.Trust.OpenDatagram(v.birth(), b)
	if err != nil || !v.isPeer(from) || sequence <= v.seen[from] {
		return
	}
	v.seen[from] = sequence
	v.step(membership.Receive{From: int(from), Msg: payload})
}

// isPeer reports whether a number is that of a member other than this one.
func (v *Driver) isPeer(member uint32) bool {
	return int64(member) < int64(len(v.cfg.Peers)) && int(member) != v.cfg.Roster.Me
}

// helloFor is the time within which a member that has connected must identify itself.
const helloFor = 3 * time.Second

// accept accepts connections of members until Close.
func (v *Driver) accept() {
	v.cfg.Trust.Serve(v.cfg.Place.listener, v.birth(), v.admit)
}

// admit reads the frames of a connection until the connection or the driver ends.
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

// readHello returns the member that has dialed a connection.
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

// awaitOpened waits until Start or Admit has opened the way to a member. A member may dial before
// this one has learned of its arrival; if this one refused the connection, the member would dial
// again and again. False: the driver is closed.
func (v *Driver) awaitOpened(member uint32) bool {
	select {
	case <-v.ways[member].opened:
		return true
	case <-v.closed:
		return false
	}
}

// birth returns the birth of this member.
func (v *Driver) birth() uint64 { return v.cfg.Peers[v.cfg.Roster.Me].Birth }

// readFrame reads one message. It allocates memory as bytes arrive and does not trust the length
// prefix.
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
