package recovery

import (
	"context"

	"github.com/goulfm/goulfm/comm"
)

// A part travels as a message with the length of each member, then one for each that is not
// empty. unchanged stands for what the receiver has in the part that it kept before.
const unchanged = -1

// transferTag is of all messages of parts. The communicator is the library's own.
const transferTag = 1

// sendPart gives a part to a rank. same says which members are as in the part before.
func sendPart(ctx context.Context, c *comm.Comm, to int, p part, same func(i int) bool) error {
	lengths := make([]int64, len(p))
	for i := range p {
		lengths[i] = int64(len(p[i]))
		if same(i) {
			lengths[i] = unchanged
		}
	}
	dest := c.To(to).Tag(transferTag)
	if err := comm.Send(ctx, dest, lengths); err != nil {
		return err
	}
	for i, n := range lengths {
		if n > 0 {
			if err := comm.Send(ctx, dest, p[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// receivePart takes a part of so many members from a rank. before is the part that was kept
// of the same owner; room makes a slice.
func receivePart(ctx context.Context, c *comm.Comm, from, members int, before part, room func(n int) []byte) (part, error) {
	lengths := make([]int64, members)
	source := c.From(from).Tag(transferTag)
	if _, err := comm.Recv(ctx, source, lengths); err != nil {
		return nil, err
	}
	p := make(part, members)
	for i, n := range lengths {
		switch {
		case n == unchanged && before == nil:
			return nil, errOver // who sent it knows of a version that is not here
		case n == unchanged:
			p[i] = before[i]
		case n > 0:
			p[i] = room(int(n))[:n]
			if _, err := comm.Recv(ctx, source, p[i]); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// never says of no member that it is unchanged.
func never(int) bool { return false }
