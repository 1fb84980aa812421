package kernel

import (
	"fmt"
	"testing"
)

// BenchmarkKernel counts the bytes of one operand: in is read, acc is read and
// written.
func BenchmarkKernel(b *testing.B) {
	for _, c := range []struct {
		op Op
		e  Elem
	}{{Sum, Float64}, {Prod, Float64}, {Max, Float64}, {Min, Float32}, {Sum, Int64}, {Max, Int64}, {Sum, Int8}, {BXor, Uint8},
		{LAnd, Bool}, {LAnd, Int64}, {LXor, Uint8}, {Max, Uint8}, {Prod, Complex128}} {
		for _, im := range implementations() {
			for _, size := range []int{8, 16, 40, 64, 128, 4 << 10, 64 << 10} {
				b.Run(fmt.Sprintf("%v-%v/%s/%d", c.op, c.e, im.name, size), func(b *testing.B) {
					acc, in, f := room(size), room(size), im.t[c.op][c.e]
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						f(acc, acc, in)
					}
				})
			}
		}
	}
}
