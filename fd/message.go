package fd

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// A message is one byte for its kind, then for heartbeat, newObserver and probe the digest of the
// dead and the left processes at the sender (8 bytes), for notice a message of the death flood, for
// fence nothing.
//
// With Config.Adaptive a heartbeat and a newObserver continue with one byte for the version of the
// rest (1) and a message of package adaptive without a tag. In a heartbeat this is a Beat, or the
// Echo that answers; in a newObserver an Adjust. A heartbeat that answers a probe, or a newObserver
// that requires no Echo, ends after the digest. The stream of these messages is 0: a process
// observes another one once, or again after the death or the departure of a late process between
// the two.
const (
	kindHeartbeat   byte = iota + 1 // T1; also the answer to newObserver and to probe
	kindNewObserver                 // T3: the sender observes the receiver from now on
	kindProbe                       // second check: answer with a heartbeat at once
	kindNotice                      // the death flood
	kindFence                       // the receiver has been declared dead
)

// toldVersion is the version of the rest after the digest.
const toldVersion = 1

func digestMessage(kind byte, digest uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{kind}, digest)
}

// tellingMessage is a heartbeat or newObserver of Config.Adaptive.
func tellingMessage(kind byte, digest uint64, told adaptive.Message) []byte {
	return adaptive.AppendMessage(append(digestMessage(kind, digest), toldVersion), told)
}

func noticeMessage(flooded []byte) []byte { return append([]byte{kindNotice}, flooded...) }

func fenceMessage() []byte { return []byte{kindFence} }

// A message is a parsed message. The fields digest, told and flooded are set for some kinds only.
type message struct {
	kind    byte
	digest  uint64
	told    adaptive.Message // nil: nothing
	flooded []byte           // part of the received bytes
}

func parseMessage(b []byte) (message, error) {
	r := wire.NewReader(b)
	m := message{kind: r.Byte()}
	switch m.kind {
	case kindHeartbeat, kindNewObserver:
		m.digest = r.Uint64()
		if r.Left() > 0 {
			return m.withTold(r.Byte(), r.Rest())
		}
	case kindProbe:
		m.digest = r.Uint64()
	case kindNotice:
		m.flooded = r.Rest()
	case kindFence:
	default:
		return message{}, wire.ErrMalformed
	}
	return m, r.Done()
}

// withTold adds the rest after the digest.
func (m message) withTold(version byte, b []byte) (message, error) {
	told, err := adaptive.ParseMessage(b)
	if err != nil || version != toldVersion || !m.mayTell(told) {
		return message{}, wire.ErrMalformed
	}
	m.told = told
	return m, nil
}

// mayTell reports whether a message of this kind may carry told.
func (m message) mayTell(told adaptive.Message) bool {
	switch told.(type) {
	case adaptive.Beat, adaptive.Echo:
		return m.kind == kindHeartbeat
	case adaptive.Adjust:
		return m.kind == kindNewObserver
	}
	return false
}

// IsHeartbeat reports whether msg, from a Send, is a heartbeat. The next heartbeat compensates for
// a lost one, so a host may send heartbeats as datagrams. The exceptions are the answers to a probe
// and to a NEWOBSERVER, which are also heartbeats: a host recognizes them because they follow a
// Receive. Nothing compensates for a lost answer to a probe.
func IsHeartbeat(msg []byte) bool { return len(msg) > 0 && msg[0] == kindHeartbeat }
