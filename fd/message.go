package fd

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/wire"
)

// A message is one byte for its kind, then for heartbeat, newObserver and probe the
// digest of the sender's dead set (8 bytes), for notice a message of the death
// flood, for fence nothing.
const (
	kindHeartbeat   byte = iota + 1 // T1; also the answer to newObserver and to probe
	kindNewObserver                 // T3: the sender observes the receiver from now on
	kindProbe                       // second check: answer with a heartbeat at once
	kindNotice                      // the death flood
	kindFence                       // the receiver has been declared dead
)

func digestMessage(kind byte, digest uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{kind}, digest)
}

func noticeMessage(flooded []byte) []byte { return append([]byte{kindNotice}, flooded...) }

func fenceMessage() []byte { return []byte{kindFence} }

// A message taken apart: digest and flooded mean something for some kinds only.
type message struct {
	kind    byte
	digest  uint64
	flooded []byte // part of the received bytes
}

func parseMessage(b []byte) (message, error) {
	r := wire.NewReader(b)
	m := message{kind: r.Byte()}
	switch m.kind {
	case kindHeartbeat, kindNewObserver, kindProbe:
		m.digest = r.Uint64()
	case kindNotice:
		m.flooded = r.Rest()
	case kindFence:
	default:
		return message{}, wire.ErrMalformed
	}
	return m, r.Done()
}

// IsHeartbeat says whether msg, from a Send, is a heartbeat. One that gets lost is made up
// for by the next one, so a host may send it as a datagram; not the answer to a probe,
// though, which is a heartbeat too and comes from a Receive.
func IsHeartbeat(msg []byte) bool { return len(msg) > 0 && msg[0] == kindHeartbeat }
