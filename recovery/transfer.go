package recovery

import (
	"context"

	"github.com/goulfm/goulfm/comm"
)

// A part is sent as one message with the length of each member, and one more for each nonempty
// member. The length unchanged means that the receiver keeps the bytes of the previous part; absent
// means that there are no bytes.
const (
	unchanged = -1
	absent    = -2
)

// Tags on the library's own communicator: transferTag of parts and rows, which all ranks move in
// one order; savingTag of savings and answerTag of their answers, concurrent with those.
const (
	transferTag = 1
	savingTag   = 2
	answerTag   = 3
)

// sendPart sends a part to a rank. same reports whether a member is unchanged since the previous
// part.
func sendPart(ctx context.Context, dest comm.Dest, p part, same func(i int) bool) error {
	lengths := make([]int64, len(p))
	for i := range p {
		lengths[i] = int64(len(p[i]))
		switch {
		case same(i):
			lengths[i] = unchanged
		case p[i] == nil:
			lengths[i] = absent
		}
	}
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

// receivePart receives a part with the given number of members. before is the part of the same
// owner that was kept earlier; room allocates a slice.
func receivePart(ctx context.Context, source comm.Source, members int, before part, room func(n int) []byte) (part, error) {
	lengths := make([]int64, members)
	if _, err := comm.Recv(ctx, source, lengths); err != nil {
		return nil, err
	}
	p := make(part, members)
	for i, n := range lengths {
		switch {
		case n == unchanged && before == nil:
			return nil, errOver // the sender relies on a version that this rank does not have
		case n == unchanged:
			p[i] = before[i]
		case n == 0:
			p[i] = []byte{}
		case n > 0:
			p[i] = room(int(n))[:n]
			if _, err := comm.Recv(ctx, source, p[i]); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// never reports that a member has changed.
func never(int) bool { return false }

// sendSaving sends the saving of a home to a rank, after its number.
func (w *World) sendSaving(to, home int, s saving, same func(i int) bool) error {
	dest := w.base.To(to).Tag(savingTag)
	if err := comm.Send(w.ctx, dest, []uint64{uint64(home), s.count}); err != nil {
		return err
	}
	p := s.part
	if p == nil {
		p = make(part, len(w.members)) // no data were saved yet
	}
	return sendPart(w.ctx, dest, p, same)
}

// receiveSaving receives a saving, whole or not at all.
func (w *World) receiveSaving(ctx context.Context, from int) error {
	source, head := w.base.From(from).Tag(savingTag), make([]uint64, 2)
	if _, err := comm.Recv(ctx, source, head); err != nil {
		return err
	}
	home := int(head[0])
	p, err := receivePart(ctx, source, len(w.members), w.r.own.get(home).part, roomForSaving)
	if err == nil {
		w.r.own.put(home, saving{head[1], p})
	}
	return err
}

func roomForSaving(n int) []byte { return make([]byte, 0, n) }

// answer confirms to an owner that its saving is kept.
func (w *World) answer(owner int) error {
	return comm.Send(w.service, w.base.To(owner).Tag(answerTag), []byte{1})
}

func (w *World) awaitAnswer(keeper int) error {
	_, err := comm.Recv(w.ctx, w.base.From(keeper).Tag(answerTag), make([]byte, 1))
	return err
}
