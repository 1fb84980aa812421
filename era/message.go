package era

import (
	"bytes"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/wire"
)

// Message is a message between members: Up, Down or ResultRequest.
type Message interface{ isMessage() }

// Up carries the contributions of the sender and of its descendants to its parent. An Up is also a
// promise: the sender accepts the decision from this parent only, until the sender has learnt of
// the parent's death.
type Up struct{ Value Value }

// Down carries the decision.
type Down struct{ Value Value }

// ResultRequest asks for the decision, if there was one. A member that became
// root sends it to its children.
type ResultRequest struct{}

func (Up) isMessage()            {}
func (Down) isMessage()          {}
func (ResultRequest) isMessage() {}

// The first byte of a message is its kind.
const (
	tagUp            = 1
	tagDown          = 2
	tagResultRequest = 3
)

// AppendMessage appends the encoding of m to dst.
func AppendMessage(dst []byte, m Message) []byte {
	switch m := m.(type) {
	case Up:
		return appendValue(append(dst, tagUp), m.Value)
	case Down:
		return appendValue(append(dst, tagDown), m.Value)
	}
	return append(dst, tagResultRequest)
}

// DecodeMessage decodes the output of AppendMessage, for a series of n members. Any other input
// gives an error that wraps wire.ErrMalformed. The message shares nothing with b.
func DecodeMessage(b []byte, n int) (Message, error) {
	r := wire.NewReader(b)
	switch tag := r.Byte(); tag {
	case tagUp:
		v, err := readValue(r, n)
		return Up{v}, err
	case tagDown:
		v, err := readValue(r, n)
		return Down{v}, err
	case tagResultRequest:
		return ResultRequest{}, r.Done()
	default:
		return nil, fmt.Errorf("%w: agreement message of kind %d", wire.ErrMalformed, tag)
	}
}

// DecodeUp returns the Value of an Up that AppendMessage wrote, as DecodeMessage does, without a
// Message around the Value: a combiner of the members of a node decodes one Value per member.
func DecodeUp(b []byte, n int) (Value, error) {
	r := wire.NewReader(b)
	if tag := r.Byte(); tag != tagUp {
		return Value{}, fmt.Errorf("%w: agreement message of kind %d, want a contribution", wire.ErrMalformed, tag)
	}
	return readValue(r, n)
}

func appendValue(dst []byte, v Value) []byte {
	dst = wire.AppendSet(dst, v.From)
	dst = appendClaim(dst, v.Lo)
	dst = appendClaim(dst, v.Hi)
	dst = wire.AppendSet(dst, v.Vetoes)
	dst = wire.AppendUint(dst, v.Flag)
	dst = wire.AppendSet(dst, v.Dead)
	dst = wire.AppendSet(dst, v.Acked)
	dst = wire.AppendUint(dst, v.Returned)
	dst = wire.AppendUint(dst, uint64(len(v.Entries)))
	for _, e := range v.Entries {
		dst = wire.AppendUint(dst, uint64(e.Rank))
		dst = wire.AppendBytes(dst, e.Data)
	}
	return dst
}

func appendClaim(dst []byte, c Claim) []byte {
	return wire.AppendUint(wire.AppendUint(dst, c.Call), uint64(c.Rank))
}

func readValue(r *wire.Reader, n int) (Value, error) {
	v := Value{
		From:   r.Set(n),
		Lo:     readClaim(r, n),
		Hi:     readClaim(r, n),
		Vetoes: r.Set(n),
		Flag:   r.Uint(),
		Dead:   r.Set(n),
		Acked:  r.Set(n),
	}
	v.Returned = r.Uint()
	if count := r.Uint(); count > 0 && r.Err() == nil {
		r = wire.NewReader(bytes.Clone(r.Rest())) // one copy for all payloads
		v.Entries = make([]Entry, 0, min(count, uint64(r.Left()/entryBytesMin)))
		for ; count > 0 && r.Err() == nil; count-- {
			v.Entries = append(v.Entries, Entry{Rank: r.Below(n), Data: r.Bytes()})
		}
	}
	if err := r.Done(); err != nil {
		return Value{}, err
	}
	return v, checkValue(v)
}

// entryBytesMin is the least size of an entry: a rank, and a length. So a count alone allocates
// nothing.
const entryBytesMin = 2

func readClaim(r *wire.Reader, n int) Claim { return Claim{Call: r.Uint(), Rank: r.Below(n)} }

// checkValue refuses values that no sequence of Merges can yield.
func checkValue(v Value) error {
	switch {
	case v.From.IsEmpty():
		return fmt.Errorf("%w: value of nobody", wire.ErrMalformed)
	case !v.From.Has(v.Lo.Rank) || !v.From.Has(v.Hi.Rank) || v.Lo.compare(v.Hi) > 0:
		return fmt.Errorf("%w: claims %v and %v of %v", wire.ErrMalformed, v.Lo, v.Hi, v.From)
	case !v.Vetoes.SubsetOf(v.From):
		return fmt.Errorf("%w: vetoes %v of %v", wire.ErrMalformed, v.Vetoes, v.From)
	}
	last := -1
	for _, e := range v.Entries {
		if e.Rank <= last || !v.From.Has(e.Rank) {
			return fmt.Errorf("%w: entry of %d after %d in a value of %v", wire.ErrMalformed, e.Rank, last, v.From)
		}
		last = e.Rank
	}
	return nil
}
