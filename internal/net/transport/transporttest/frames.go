package transporttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// noise is the source of all payloads: a piece at a random place differs from a shifted piece and
// from a mix of pieces.
var noise = func() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<17)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}()

func piece(rng *rand.Rand, n int) []byte {
	if n > len(noise) {
		return bytes.Repeat(noise, n/len(noise)+1)[:n]
	}
	at := rng.IntN(len(noise) - n + 1)
	return noise[at : at+n]
}

// A stream is an endless sequence of frames that sender and receiver both derive from its seed.
type stream struct {
	rng     *rand.Rand
	sizeMax int // of Eager payloads
	only    transport.Kind
}

func newStream(seed uint64) *stream {
	return &stream{rng: rand.New(rand.NewPCG(seed, 0)), sizeMax: transport.EagerMax}
}

// eagerMax returns the length of the longest eager payload from e to a rank.
func eagerMax(e *end, to int) int {
	if p, ok := e.Link.(*transport.Port); ok && p.TakesLong(to) {
		return transport.LongMax
	}
	return transport.EagerMax
}

// next returns a frame of any kind, one in two of a length that fits a cell.
func (s *stream) next() (transport.Header, []byte) {
	k := s.only
	if k == 0 {
		k = transport.Kind(1 + s.rng.IntN(3))
	}
	size := s.rng.IntN(64)
	if s.rng.IntN(2) == 0 {
		size = s.rng.IntN(s.sizeMax + 1)
	}
	return s.frame(k, size)
}

// frame returns a frame of one kind and size; sizes above a kind's limit are cut.
func (s *stream) frame(k transport.Kind, size int) (transport.Header, []byte) {
	h := transport.Header{Ctx: s.rng.Uint32(), Tag: int32(s.rng.Uint32()), Kind: k, Elem: uint8(s.rng.Uint32()), Size: size}
	switch k {
	case transport.Announce:
		h.Sync, h.Handle = s.rng.IntN(2) == 0, s.rng.Uint64()
		if s.rng.IntN(2) == 0 {
			h.Addr, h.Transfer = s.rng.Uint64()|1, int(s.rng.Uint32())
		}
		return h, nil
	case transport.Chunk:
		h.Size = min(size, transport.ChunkMax)
		h.Handle, h.Offset = s.rng.Uint64(), s.rng.IntN(transport.SizeMax-transport.ChunkMax)
	}
	return h, piece(s.rng, h.Size)
}

// check compares a received frame with the stream's next frame.
func (s *stream) check(f transport.Frame) error {
	h, payload := s.next()
	return same(f, h, payload)
}

// same compares a received frame with the sent one. A transport between nodes may omit the address,
// which is useless there. testAddress tests the transports that must keep it.
func same(f transport.Frame, h transport.Header, payload []byte) error {
	if f.Addr == 0 && f.Transfer == 0 {
		h.Addr, h.Transfer = 0, 0
	}
	if f.Header != h {
		return fmt.Errorf("header %+v, sent was %+v", f.Header, h)
	}
	if !bytes.Equal(f.Payload, payload) {
		return fmt.Errorf("payload of %d bytes differs from the %d that were sent, header %+v", len(f.Payload), len(payload), h)
	}
	return nil
}
