package recovery

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/ckpt/erasure"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// A share is the parity that one rank keeps of its group (redundancy.Group), in one placement of
// the ranks.
type share struct {
	nodes  []int          // the placement
	rank   int            // the rank of the share in this placement
	sizes  []int64        // of the images of the group's members, in their order
	pieces map[int][]byte // by stripe
}

// image is a part as one piece for coding: the length of each member, then the bytes of all.
func image(p part) []byte {
	size := 8 * len(p)
	for _, b := range p {
		size += len(b)
	}
	img := make([]byte, 0, size)
	for _, b := range p {
		img = binary.LittleEndian.AppendUint64(img, uint64(len(b)))
	}
	for _, b := range p {
		img = append(img, b...)
	}
	return img
}

// partOf is the inverse of image. ok is false if the image is malformed.
func partOf(img []byte, members int) (p part, ok bool) {
	if len(img) < 8*members {
		return nil, false
	}
	p = make(part, members)
	rest := img[8*members:]
	for i := range p {
		n := binary.LittleEndian.Uint64(img[8*i:])
		if n > uint64(len(rest)) {
			return nil, false
		}
		p[i], rest = rest[:n:n], rest[n:]
	}
	return p, len(rest) == 0
}

// A coding is this process's work on the parity of one version. All ranks do their parts of the
// same steps in one order, which excludes a cycle of waiting ranks.
type coding struct {
	w      *World
	v      *version
	images map[int][]byte // of parts at this process, made on demand
}

func (w *World) coding(v *version) *coding { return &coding{w: w, v: v, images: map[int][]byte{}} }

func (c *coding) image(owner int) []byte {
	if c.images[owner] == nil {
		c.images[owner] = image(c.v.parts[owner])
	}
	return c.images[owner]
}

// encodeAll makes the parity of a version of which each rank has its part.
func (c *coding) encodeAll(code redundancy.Code) error {
	for _, g := range code.Groups() {
		for _, to := range g.Members {
			if err := c.encode(g, to); g.Parity > 0 && err != nil {
				return err
			}
		}
	}
	return nil
}

// encode makes the share of one member of a group, at that member. For each stripe in which the
// member has parity, all ranks with data of the stripe send their pieces.
func (c *coding) encode(g redundancy.Group, to int) error {
	me := c.w.Rank()
	if !slices.Contains(g.Members, me) {
		return nil
	}
	sizes, err := c.sizes(g)
	if err != nil {
		return err
	}
	s := share{nodes: slices.Clone(c.w.nodes), rank: to, sizes: sizes, pieces: map[int][]byte{}}
	for n := range g.Stripes() {
		st := g.Stripe(n)
		k := slices.Index(st.Parity, to)
		if k < 0 {
			continue
		}
		piece, err := c.encodeStripe(g, st, k, partLen(g, sizes))
		if err != nil {
			return err
		}
		s.pieces[n] = piece
	}
	if me == to {
		c.v.shares = append(c.v.shares, s)
	}
	return nil
}

func partLen(g redundancy.Group, sizes []int64) int {
	return erasure.PartLen(int(slices.Max(sizes)), g.Parts())
}

// sizes exchanges the lengths of images among the members of a group.
func (c *coding) sizes(g redundancy.Group) ([]int64, error) {
	sizes, me := make([]int64, len(g.Members)), c.w.Rank()
	for i, from := range g.Members {
		if from == me {
			sizes[i] = int64(len(c.image(me)))
		}
		for _, to := range g.Members {
			if err := c.move(from, to, sizes[i:i+1]); err != nil {
				return nil, err
			}
		}
	}
	return sizes, nil
}

// encodeStripe moves the data of a stripe to the member that has piece k of its parity. The result
// is this piece, at that member alone.
func (c *coding) encodeStripe(g redundancy.Group, st redundancy.Stripe, k, length int) ([]byte, error) {
	me, to := c.w.Rank(), st.Parity[k]
	data := make([][]byte, len(st.Data))
	for j, from := range st.Data {
		if me != from && me != to {
			continue
		}
		data[j] = make([]byte, length)
		if me == from {
			erasure.Cut(data[j], c.image(me), j*length)
		}
		if err := moveBytes(c.w, from, to, data[j]); err != nil {
			return nil, err
		}
	}
	if me != to {
		return nil, nil
	}
	coder, err := erasure.New(g.Parts(), g.Parity)
	if err != nil {
		return nil, err
	}
	parity := make([][]byte, g.Parity)
	for i := range parity {
		parity[i] = make([]byte, length)
	}
	return parity[k], coder.Encode(data, parity)
}

// rebuild makes a part that no process has any more, at its new owner.
func (c *coding) rebuild(r redundancy.Rebuild, placed []int) error {
	var here bool
	involved := []int{r.To}
	for _, s := range slices.Concat(r.Data, r.Parity) {
		involved = append(involved, s.From)
	}
	slices.Sort(involved)
	involved = slices.Compact(involved)
	if here = slices.Contains(involved, c.w.Rank()); !here {
		return nil
	}
	sizes := make([]int64, len(r.Group.Members))
	teller := r.Parity[0]
	if teller.From == c.w.Rank() {
		copy(sizes, c.share(teller.Owner, placed).sizes)
	}
	for _, to := range involved {
		if err := c.move(teller.From, to, sizes); err != nil {
			return err
		}
	}
	img := make([]byte, sizes[slices.Index(r.Group.Members, r.Owner)])
	for n := range r.Group.Stripes() {
		if err := c.rebuildStripe(r, n, placed, partLen(r.Group, sizes), img); err != nil {
			return err
		}
	}
	if c.w.Rank() == r.To {
		p, ok := partOf(img, len(c.w.members))
		if !ok {
			return errOver // a piece was of another part: this version cannot be restored
		}
		c.v.parts[r.Owner] = p
	}
	return nil
}

// rebuildStripe moves to the rebuilding rank the least number of pieces of a stripe that suffices,
// and adds the owner's part of the stripe to the image.
func (c *coding) rebuildStripe(r redundancy.Rebuild, n int, placed []int, length int, img []byte) error {
	st := r.Group.Stripe(n)
	own := slices.Index(st.Data, r.Owner)
	if own < 0 {
		return nil
	}
	pieces := make([][]byte, r.Group.Parts()+r.Group.Parity)
	left := r.Group.Parts()
	take := func(at int, owner int, of []redundancy.Source, fill func(piece []byte)) error {
		i := slices.IndexFunc(of, func(s redundancy.Source) bool { return s.Owner == owner })
		if i < 0 || left == 0 {
			return nil
		}
		left--
		piece := make([]byte, length)
		if of[i].From == c.w.Rank() {
			fill(piece)
		}
		pieces[at] = piece
		return moveBytes(c.w, of[i].From, r.To, piece)
	}
	for j, owner := range st.Data {
		if err := take(j, owner, r.Data, func(p []byte) { erasure.Cut(p, c.image(owner), j*length) }); err != nil {
			return err
		}
	}
	for k, owner := range st.Parity {
		if err := take(len(st.Data)+k, owner, r.Parity, func(p []byte) { copy(p, c.share(owner, placed).pieces[n]) }); err != nil {
			return err
		}
	}
	if c.w.Rank() != r.To {
		return nil
	}
	coder, err := erasure.New(r.Group.Parts(), r.Group.Parity)
	if err == nil {
		err = coder.Rebuild(pieces, length)
	}
	if err == nil {
		erasure.Paste(img, pieces[own], own*length)
	}
	return err
}

// share returns the share of a rank in a placement. The plan guarantees that this process has the
// share.
func (c *coding) share(rank int, placed []int) share {
	i := slices.IndexFunc(c.v.shares, func(s share) bool { return s.rank == rank && slices.Equal(s.nodes, placed) })
	return c.v.shares[i]
}

// move sends figures of one rank to another.
func (c *coding) move(from, to int, figures []int64) error {
	return moveBytes(c.w, from, to, figures)
}

// moveBytes sends the elements of one rank to another. At all other ranks, and with from == to,
// moveBytes does nothing.
func moveBytes[T comm.Elem](w *World, from, to int, b []T) (err error) {
	switch {
	case from == to:
	case w.Rank() == from:
		err = comm.Send(w.ctx, w.base.To(to).Tag(transferTag), b)
	case w.Rank() == to:
		_, err = comm.Recv(w.ctx, w.base.From(from).Tag(transferTag), b)
	}
	return err
}
