package socket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// A datagram between members is authenticated: no other process can make one. The receiver accepts
// each sequence once. Numbers are little-endian:
//
//	 0  "goulfmd1"
//	 8  sender   u32   its number among the members
//	12  sequence u64   grows with each datagram of a sender to a receiver
//	20  payload
//	    code     16 bytes of HMAC-SHA256 over job, the receiver's birth, and all before
const (
	datagramMagic  = "goulfmd1"
	datagramHead   = 20
	datagramExtra  = datagramHead + codeSize
	codeSize       = 16
	DatagramMax    = 1200 // the largest datagram that no network fragments
	DatagramMaxMsg = DatagramMax - datagramExtra
)

// SealDatagram appends to dst a datagram for the member born as birth.
func (t *Trust) SealDatagram(dst []byte, birth uint64, sender uint32, sequence uint64, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, datagramMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, sender)
	dst = binary.LittleEndian.AppendUint64(dst, sequence)
	dst = append(dst, payload...)
	return append(dst, t.datagramCode(birth, dst[start:])...)
}

// OpenDatagram authenticates a datagram for the member born as birth and returns its fields. The
// caller must check that the sequence is new. The payload is a part of b.
func (t *Trust) OpenDatagram(birth uint64, b []byte) (sender uint32, sequence uint64, payload []byte, err error) {
	if len(b) < datagramExtra || string(b[:8]) != datagramMagic {
		return 0, 0, nil, fmt.Errorf("%w: a datagram that does not speak our protocol", ErrStranger)
	}
	clear := b[:len(b)-codeSize]
	if !hmac.Equal(b[len(clear):], t.datagramCode(birth, clear)) {
		return 0, 0, nil, fmt.Errorf("%w: a datagram of another job, or for another process", ErrStranger)
	}
	return binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint64(b[12:]), clear[datagramHead:], nil
}

func (t *Trust) datagramCode(birth uint64, clear []byte) []byte {
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte("datagram"))
	mac.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.job), birth))
	mac.Write(clear)
	return mac.Sum(nil)[:codeSize]
}
