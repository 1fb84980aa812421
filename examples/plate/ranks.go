package plate

import (
	"context"

	"github.com/goulfm/goulfm/comm"
)

// Exchange sends the outermost rows of this block to the ranks above and below, and receives theirs
// into the border rows. At the ends of the plate the neighbour is comm.None: no message is sent or
// received, and the border row keeps the temperature of the edge.
func (g *Grid) Exchange(ctx context.Context, c *comm.Comm) error {
	above, below := c.Rank()-1, c.Rank()+1
	if above < 0 {
		above = comm.None
	}
	if below == c.Size() {
		below = comm.None
	}
	if _, err := comm.SendRecv(ctx, c.To(above), g.Row(g.Lo), c.From(below), g.Row(g.Hi)); err != nil {
		return err
	}
	_, err := comm.SendRecv(ctx, c.To(below), g.Row(g.Hi-1), c.From(above), g.Row(g.Lo-1))
	return err
}

// SumBlocks computes at rank 0 the checksum of the field of ny rows, block by block, so that no
// rank needs room for the whole plate; the others only send theirs.
func (g *Grid) SumBlocks(ctx context.Context, c *comm.Comm, ny int) (uint64, error) {
	if c.Rank() > 0 {
		return 0, comm.Send(ctx, c.To(0), g.Inner())
	}
	sum := newChecksum(g.Width)
	sum.add(g.Inner())
	for r := 1; r < c.Size(); r++ {
		rows := make([]float64, Block(ny, c.Size(), r).Rows()*g.Width)
		if _, err := comm.Recv(ctx, c.From(r), rows); err != nil {
			return 0, err
		}
		sum.add(rows)
	}
	return sum.sum.Sum64(), nil
}
