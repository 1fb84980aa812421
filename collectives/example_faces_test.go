package collectives_test

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Four ranks have a quarter of a matrix each, surrounded by the edges of their neighbors' quarters.
// Rows and columns are exchanged in one collective; columns are packed.
func Example_faces() {
	const n, wide = 2, 4 // cells of a quarter in each direction, and with its surroundings
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		grid, err := w.Cart(ctx, []int{2, 2}, []bool{false, false}, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		m := make([]int, wide*wide) // 0 outside of the matrix
		for i := range n {
			for j := range n {
				m[(i+1)*wide+j+1] = 10*w.Rank() + n*i + j + 1
			}
		}
		row := comm.Stride{Count: 1, Length: n, Step: wide}
		column := comm.Stride{Count: n, Length: 1, Step: wide}
		faces := []struct {
			edge, around int // where they begin in m
			comm.Stride
		}{ // in the order of Neighbors: above, below, left, right
			{wide + 1, 1, row}, {n*wide + 1, (n+1)*wide + 1, row},
			{wide + 1, wide, column}, {wide + n, wide + n + 1, column},
		}
		out, in := make([]int, len(faces)*n), make([]int, len(faces)*n)
		for i, f := range faces {
			_, _ = comm.Pack(out[i*n:], m[f.edge:], f.Stride)
		}
		if err := collectives.NeighborAlltoall(ctx, grid, in, out); err != nil {
			fmt.Println(err)
			return
		}
		for i, f := range faces {
			_, _ = comm.Unpack(m[f.around:], in[i*n:], f.Stride)
		}
		if w.Rank() == 3 {
			for i := range wide {
				fmt.Printf("%2d\n", m[i*wide:(i+1)*wide])
			}
		}
	})
	// Output:
	// [ 0 13 14  0]
	// [22 31 32  0]
	// [24 33 34  0]
	// [ 0  0  0  0]
}
