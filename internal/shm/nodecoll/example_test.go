package nodecoll_test

import (
	"encoding/binary"
	"fmt"

	"github.com/goulfm/goulfm/internal/shm/nodecoll"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Three members sum a number each. One goroutine acts for all of them: Advance never blocks.
func Example() {
	const n = 3
	lines := segment.HeapRegion(nodecoll.LinesBytes(n))
	data := make([]segment.Region, n)
	for m := range n {
		data[m] = segment.HeapRegion(nodecoll.DataBytes)
	}
	add := nodecoll.Reduce{ElemBytes: 8, Func: func(dst, acc, in []byte) {
		for i := 0; i < len(dst); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(acc[i:])+binary.LittleEndian.Uint64(in[i:]))
		}
	}}

	var groups [n]*nodecoll.Group
	var sums [n][]byte
	for m := range n {
		groups[m] = nodecoll.New(nodecoll.Config{
			N: n, Me: m, Mutual: true, Lines: lines, Base: make([]uint64, n),
			Data: func(member int) segment.Region { return data[member] },
		})
	}
	for m, g := range groups {
		sums[m] = binary.LittleEndian.AppendUint64(nil, uint64(10*(m+1)))
		g.Allreduce(1, sums[m], sums[m], add)
		fmt.Println("member", m, "has started and waits for", g.Waits())
	}
	for m, g := range groups {
		fmt.Println("member", m, g.Advance(), binary.LittleEndian.Uint64(sums[m]))
	}
	// Output:
	// member 0 has started and waits for [1 2]
	// member 1 has started and waits for [2]
	// member 2 has started and waits for []
	// member 0 true 60
	// member 1 true 60
	// member 2 true 60
}
