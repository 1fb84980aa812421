package bootauth

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"

	"github.com/goulfm/goulfm/internal/base/buildid"
)

// ErrCard reports that a text is no card; the error that wraps it has the reason.
var ErrCard = errors.New("not a card of a daemon")

// A card begins with the build of its daemon. That build defines the layout of the rest.

// A Card is a daemon's public description of itself. Nothing in it is secret. A holder of an
// authentic card knows by Key which daemon may answer at the addresses.
type Card struct {
	Birth uint64       // differs from that of any other daemon that will ever be at these addresses
	Key   [32]byte     // SHA-256 of its public key (PKIX DER): see [Identity.Key]
	Port  uint16       // TCP port of its listener; 0: none
	Addrs []netip.Addr // its addresses, the best first; at most [AddrsMax]
}

// AddrsMax is the number of addresses that a card holds.
const AddrsMax = 3

const (
	birthAt   = 4
	keyAt     = birthAt + 8
	portAt    = keyAt + 32
	addrsAt   = portAt + 2
	addrBytes = 16
	cardBytes = addrsAt + AddrsMax*addrBytes
)

// CardDigits is the length of the text of a card. Engines bound the text that a task may publish:
// PMI-1 by no less than 256.
const CardDigits = 2 * cardBytes

// Text returns the card as 188 lower-case hexadecimal digits: the build (4 bytes), the birth, the
// key, the port, and three addresses of 16 bytes, IPv4 in its IPv6 form, unused ones zero.
// Numbers are most significant byte first. Text writes the first three addresses that can be
// dialled from other nodes. It leaves out unspecified addresses, and drops the zone of an
// address, which means nothing on another node.
func (c Card) Text() string {
	b := make([]byte, addrsAt, cardBytes)
	binary.BigEndian.PutUint32(b, buildid.Build)
	binary.BigEndian.PutUint64(b[birthAt:], c.Birth)
	copy(b[keyAt:], c.Key[:])
	binary.BigEndian.PutUint16(b[portAt:], c.Port)
	for _, a := range c.Addrs {
		if usable(a) && len(b) < cardBytes {
			sixteen := a.As16()
			b = append(b, sixteen[:]...)
		}
	}
	return hex.EncodeToString(b[:cardBytes]) // make has zeroed the rest
}

// usable reports whether an address means something to other nodes.
func usable(a netip.Addr) bool { return a.IsValid() && !a.Unmap().IsUnspecified() }

// ParseCard reads the result of [Card.Text], and nothing else: any text that it accepts is what
// Text returns for the card. The error is [buildid.ErrAnother] for a card of another build,
// otherwise [ErrCard].
func ParseCard(text string) (Card, error) {
	b, err := cardDigits(text)
	if err != nil {
		return Card{}, err
	}
	c := Card{
		Birth: binary.BigEndian.Uint64(b[birthAt:]),
		Key:   [32]byte(b[keyAt:portAt]),
		Port:  binary.BigEndian.Uint16(b[portAt:]),
	}
	for at := addrsAt; at < cardBytes; at += addrBytes {
		a := netip.AddrFrom16([addrBytes]byte(b[at:])).Unmap()
		switch gap := len(c.Addrs) < (at-addrsAt)/addrBytes; {
		case a == netip.IPv6Unspecified(): // unused
		case !usable(a):
			return Card{}, fmt.Errorf("%w: address %v", ErrCard, a)
		case gap:
			return Card{}, fmt.Errorf("%w: address %v after an unused one", ErrCard, a)
		default:
			c.Addrs = append(c.Addrs, a)
		}
	}
	return c, nil
}

// cardDigits returns the bytes of a card of this build.
func cardDigits(text string) ([]byte, error) {
	b, err := hex.DecodeString(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrCard, err)
	case hex.EncodeToString(b) != text:
		return nil, fmt.Errorf("%w: upper-case digits", ErrCard)
	case len(b) < birthAt:
		return nil, fmt.Errorf("%w: %d characters instead of %d", ErrCard, len(text), CardDigits)
	case binary.BigEndian.Uint32(b) != buildid.Build:
		return nil, buildid.ErrAnother
	case len(b) != cardBytes:
		return nil, fmt.Errorf("%w: %d characters instead of %d", ErrCard, len(text), CardDigits)
	}
	return b, nil
}
