package kernel

// A layer is the loops in assembly of one instruction set.
type layer struct {
	name    string
	step    int // bytes of one round: lengths of calls are its multiples. A power of two.
	vectors []vector
}

// A vector is one loop in assembly, for elements that it treats alike.
type vector struct {
	op    Op
	elems []Elem
	loop  assembly
}

// An assembly combines n bytes, n > 0 and a multiple of its layer's step, at any
// alignment.
type assembly func(dst, acc, in *byte, n int)

// over puts the layer's loops into the table. The rest after the last whole step is computed by the
// earlier entry of the table.
func (l layer) over(t *table) {
	for _, v := range l.vectors {
		for _, e := range v.elems {
			t[v.op][e] = driven(v.loop, l.step, t[v.op][e])
		}
	}
}

// callBytesMax bounds one call of assembly, which cannot be preempted: about 10 us when memory is
// slow.
const callBytesMax = 64 << 10

// driven returns the Func that runs a loop over all whole steps and leaves the
// tail to another Func.
func driven(loop assembly, step int, tail Func) Func {
	return func(dst, acc, in []byte) {
		equal(dst, acc, in)
		for len(dst) >= step {
			n := min(len(dst), callBytesMax) &^ (step - 1)
			loop(&dst[0], &acc[0], &in[0], n)
			if n == len(dst) {
				return
			}
			dst, acc, in = dst[n:], acc[n:], in[n:]
		}
		if len(dst) > 0 {
			tail(dst, acc, in)
		}
	}
}

// integers are the elements of the bitwise operations, which are one loop.
var integers = []Elem{Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64}
