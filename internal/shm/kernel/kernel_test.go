package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"
)

// An implementation is one way to compute every pair.
type implementation struct {
	name string
	t    *table
}

// implementations are all that run here: plain loops, each layer over the plain loops alone, and
// the result of Find. Under the race detector Find returns plain loops, but the layers are tested
// too.
func implementations() []implementation {
	all := []implementation{{"plain", &plain}, {"found", fastest}}
	for _, l := range layers() {
		t := plain
		l.over(&t)
		all = append(all, implementation{l.name, &t})
	}
	return all
}

// pairs calls f for each pair that exists.
func pairs(f func(op Op, e Elem)) {
	for op := Sum; op <= LXor; op++ {
		for e := Int8; e <= Bool; e++ {
			if Find(op, e) != nil {
				f(op, e)
			}
		}
	}
}

// TestPairsExist compares with the type constraints of the operations in package
// collectives.
func TestPairsExist(t *testing.T) {
	for op := Op(0); op < 20; op++ {
		for e := Elem(0); e < 20; e++ {
			isInt := Int8 <= e && e <= Uint64
			isFloat := e == Float32 || e == Float64
			isComplex := e == Complex64 || e == Complex128
			want := false
			switch op {
			case Sum, Prod:
				want = isInt || isFloat || isComplex
			case Max, Min:
				want = isInt || isFloat
			case BAnd, BOr, BXor:
				want = isInt
			case LAnd, LOr, LXor:
				want = isInt || e == Bool
			}
			if got := Find(op, e) != nil; got != want {
				t.Errorf("Find(%v, %v) exists: %v, want %v", op, e, got, want)
			}
		}
	}
}

// special are bit patterns of floats, cut for smaller types: zeros, ones, largest,
// smallest, infinities, quiet and signalling NaN, and the extremes of integers.
var special = func() (s []uint64) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		s = append(s, math.Float64bits(f))
		f32 := math.Float32bits(float32(f))
		s = append(s, uint64(f32)<<32|uint64(f32))
	}
	return append(s, 0x7ff0000000000001, 0xfff8000000000000, 0x7f800001_7f800001, 0xffc00000_ffc00000,
		math.MaxInt64, 1<<63, math.MaxUint64, 0x7fff_8000_7fff_8000, 0x7f80_7f80_00ff_0100, 0x7fffffff_80000000, 1<<32)
}()

// values fills b with random bits, numbers of middling size and special values.
func values(r *rand.Rand, e Elem, b []byte) []byte {
	size := e.Bytes()
	for i := 0; i+size <= len(b); i += size {
		var v [16]byte
		for j := 0; j < 16; j += 8 {
			binary.NativeEndian.PutUint64(v[j:], value(r, e))
		}
		copy(b[i:i+size], v[:])
	}
	return b
}

func value(r *rand.Rand, e Elem) uint64 {
	switch r.IntN(4) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		if e == Float32 || e == Complex64 {
			return uint64(math.Float32bits(r.Float32()-0.5)) | uint64(math.Float32bits(float32(r.NormFloat64())))<<32
		}
		return math.Float64bits(r.NormFloat64())
	case 2: // logical operations need zeros, whole and in part
		few := r.Uint64()
		for range 4 {
			few &= r.Uint64()
		}
		return few
	}
	return r.Uint64()
}

// room is memory for slices of any misalignment. It starts at a multiple of 64.
func room(bytes int) []byte {
	b := make([]byte, bytes+64)
	return b[-uintptr(unsafe.Pointer(&b[0]))&63:][:bytes:bytes]
}

const guard = 0xa5

// place copies s to memory that starts off bytes after a multiple of 64; around
// it lie guard bytes.
func place(mem []byte, off int, s []byte) []byte {
	for i := range mem {
		mem[i] = guard
	}
	copy(mem[64+off:], s)
	return mem[64+off:][:len(s):len(s)]
}

func intact(mem []byte, off, n int) bool {
	return bytes.Count(mem[:64+off], []byte{guard}) == 64+off &&
		bytes.Count(mem[64+off+n:], []byte{guard}) == len(mem)-64-off-n
}

// TestShort runs every pair of every implementation on 0 to 67 elements at all misalignments of up
// to 7 bytes, into either operand and into memory of its own, and checks that no byte outside of
// the slice is written.
func TestShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	all := implementations()
	pairs(func(op Op, e Elem) {
		for n := range 68 {
			size := n * e.Bytes()
			acc, in := values(r, e, make([]byte, size)), values(r, e, make([]byte, size))
			want := naive(op, e, acc, in)
			accRoom, inRoom, dstRoom := room(size+192), room(size+192), room(size+192)
			for off := range 64 {
				if raceDetector && off%9 > 1 {
					continue
				}
				offAcc, offIn := off%8, off/8
				for _, im := range all {
					offDst := (offAcc + 3*offIn) % 8
					a, b, d := place(accRoom, offAcc, acc), place(inRoom, offIn, in), place(dstRoom, offDst, make([]byte, size))
					into := [][]byte{d, a, b}[(n+off)%3]
					im.t[op][e](into, a, b)
					if err := same(e, into, want); err != nil {
						t.Fatalf("%s: %v of %d %v at offsets %d, %d, %d: %v", im.name, op, n, e, offDst, offAcc, offIn, err)
					}
					kept := func(s, was []byte) bool { return size == 0 || &s[0] == &into[0] || bytes.Equal(s, was) }
					if !intact(dstRoom, offDst, size) || !kept(a, acc) || !intact(accRoom, offAcc, size) || !kept(b, in) || !intact(inRoom, offIn, size) {
						t.Fatalf("%s: %v of %d %v at offsets %d, %d, %d: wrote elsewhere", im.name, op, n, e, offDst, offAcc, offIn)
					}
				}
			}
		}
	})
}

// TestLong passes the length that one call of assembly takes.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	all := implementations()
	pairs(func(op Op, e Elem) {
		sizes := []int{1000 * e.Bytes(), callBytesMax + e.Bytes(), callBytesMax, 100003}
		if raceDetector { // slow
			sizes = sizes[:2]
		}
		for _, size := range sizes {
			size -= size % e.Bytes()
			acc, in := values(r, e, make([]byte, size)), values(r, e, make([]byte, size))
			want := naive(op, e, acc, in)
			accRoom, inRoom, dstRoom := room(size+192), room(size+192), room(size+192)
			for _, im := range all {
				offAcc, offIn, offDst := r.IntN(2)*r.IntN(64), r.IntN(2)*r.IntN(64), r.IntN(2)*r.IntN(64)
				a, b, d := place(accRoom, offAcc, acc), place(inRoom, offIn, in), place(dstRoom, offDst, acc)
				im.t[op][e](d, a, b)
				im.t[op][e](a, a, b)
				for _, got := range [][]byte{d, a} {
					if err := same(e, got, want); err != nil {
						t.Fatalf("%s: %v of %v, offsets %d, %d, %d: %v", im.name, op, e, offDst, offAcc, offIn, err)
					}
				}
				if !intact(dstRoom, offDst, size) || !intact(accRoom, offAcc, size) || !bytes.Equal(b, in) {
					t.Fatalf("%s: %v of %v, offsets %d, %d: wrote elsewhere", im.name, op, e, offAcc, offIn)
				}
			}
		}
	})
}

// TestSpecial combines every special value with every other, in each lane of a
// vector and in the tail.
func TestSpecial(t *testing.T) {
	all := implementations()
	pairs(func(op Op, e Elem) {
		var acc, in []byte
		for _, x := range special {
			for _, y := range special {
				acc = binary.NativeEndian.AppendUint64(acc, x)
				in = binary.NativeEndian.AppendUint64(in, y)
			}
		}
		for skip := range 16 {
			a, b := acc[skip*8:], in[skip*8:]
			a, b = a[:len(a)-len(a)%e.Bytes()], b[:len(b)-len(b)%e.Bytes()]
			want := naive(op, e, a, b)
			for _, im := range all {
				got := bytes.Clone(a)
				im.t[op][e](got, a, b)
				if err := same(e, got, want); err != nil {
					t.Fatalf("%s: %v of %v: %v", im.name, op, e, err)
				}
			}
		}
	})
}

// TestOneSliceTwice passes the same memory as both operands, and as the result.
func TestOneSliceTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	all := implementations()
	pairs(func(op Op, e Elem) {
		s := values(r, e, make([]byte, 333*e.Bytes()))
		want := naive(op, e, s, s)
		for _, im := range all {
			got := bytes.Clone(s)
			im.t[op][e](got, got, got)
			if err := same(e, got, want); err != nil {
				t.Fatalf("%s: %v of %v: %v", im.name, op, e, err)
			}
		}
	})
}

// TestNaNOnEitherSide states cases that the comparison with naive covers as well.
func TestNaNOnEitherSide(t *testing.T) {
	nan, negativeZero := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		op         Op
		x, y, want float64
	}{
		{Max, nan, 1, nan}, {Max, 1, nan, nan}, {Max, nan, math.Inf(1), nan}, {Max, math.Inf(1), nan, nan},
		{Min, nan, 1, nan}, {Min, 1, nan, nan}, {Min, nan, math.Inf(-1), nan}, {Min, math.Inf(-1), nan, nan},
		{Max, 0, negativeZero, 0}, {Max, negativeZero, 0, 0}, {Max, negativeZero, negativeZero, negativeZero},
		{Min, 0, negativeZero, negativeZero}, {Min, negativeZero, 0, negativeZero}, {Min, 0, 0, 0},
	} {
		const n = 21
		acc := bytes.Repeat(binary.NativeEndian.AppendUint64(nil, math.Float64bits(c.x)), n)
		in := bytes.Repeat(binary.NativeEndian.AppendUint64(nil, math.Float64bits(c.y)), n)
		want := bytes.Repeat(binary.NativeEndian.AppendUint64(nil, math.Float64bits(c.want)), n)
		for _, im := range implementations() {
			got := bytes.Clone(acc)
			im.t[c.op][Float64](got, acc, in)
			if err := same(Float64, got, want); err != nil {
				t.Errorf("%s: %v(%v, %v): %v", im.name, c.op, c.x, c.y, err)
			}
		}
	}
}

// TestDifferentLengths checks that a call with unequal operands panics before it reads or writes
// anything, even if the memory behind them would suffice.
func TestDifferentLengths(t *testing.T) {
	pairs(func(op Op, e Elem) {
		for _, im := range implementations() {
			for _, cut := range []struct{ dst, acc, in int }{{in: e.Bytes()}, {acc: e.Bytes()}, {dst: e.Bytes()}} {
				acc, in := make([]byte, 256), bytes.Repeat([]byte{1}, 256)
				if !panics(func() { im.t[op][e](acc[:256-cut.dst], acc[:256-cut.acc], in[:256-cut.in]) }) {
					t.Errorf("%s: %v of %v: no panic", im.name, op, e)
				}
				if !bytes.Equal(acc, make([]byte, 256)) {
					t.Errorf("%s: %v of %v: worked before it panicked", im.name, op, e)
				}
			}
		}
	})
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestNoMisalignedElements checks a rule that amd64 and arm64 do not enforce.
func TestNoMisalignedElements(t *testing.T) {
	a, b := room(64), room(64)
	for i := range 9 * 9 * 9 {
		x, y, z := i%9, i/9%9, i/81
		s, u, v, ok := triple[uint32](a[x:][:32], b[y:][:32], b[z:][:32])
		if want := x%4 == 0 && y%4 == 0 && z%4 == 0; ok != want || ok && len(s)+len(u)+len(v) != 24 {
			t.Errorf("offsets %d, %d, %d: elements %v, %d, %d and %d of them", x, y, z, ok, len(s), len(u), len(v))
		}
	}
}

func TestNothingAllocated(t *testing.T) {
	acc, in := room(1031), room(1031)
	pairs(func(op Op, e Elem) {
		for off := range 2 {
			a, b := acc[off:], in[off:]
			a, b = a[:1024-16], b[:1024-16]
			if n := testing.AllocsPerRun(10, func() { Find(op, e)(a, a, b) }); n != 0 {
				t.Errorf("%v of %v at offset %d: %v allocations", op, e, off, n)
			}
			if n := testing.AllocsPerRun(10, func() { plain[op][e](a, a, b) }); n != 0 {
				t.Errorf("plain %v of %v at offset %d: %v allocations", op, e, off, n)
			}
		}
	})
}

// TestAssemblyIsUsed checks that Find returns assembly for all that a layer lists, and plain loops
// under the race detector.
func TestAssemblyIsUsed(t *testing.T) {
	code := func(f Func) uintptr { return reflect.ValueOf(f).Pointer() }
	for _, l := range layers() {
		for _, v := range l.vectors {
			for _, e := range v.elems {
				if plainly := code(Find(v.op, e)) == code(plain[v.op][e]); plainly != raceDetector {
					t.Errorf("%s: %v of %v: plain loop: %v", l.name, v.op, e, plainly)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	if s := Sum.String() + " " + LXor.String() + " " + Op(0).String() + " " + Op(11).String(); s != "sum lxor operation 0 operation 11" {
		t.Error(s)
	}
	if s := Int8.String() + " " + Bool.String() + " " + Elem(0).String() + " " + Elem(14).String(); s != "int8 bool element 0 element 14" {
		t.Error(s)
	}
	if Elem(0).Bytes() != 0 || Elem(14).Bytes() != 0 || Complex128.Bytes() != 16 || Bool.Bytes() != 1 {
		t.Error("sizes")
	}
}

// FuzzKernel takes the operands from the two halves of the input.
func FuzzKernel(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 4))
	for op := Sum; op <= LXor; op++ {
		for e := Int8; e <= Bool; e++ {
			f.Add(uint8(op), uint8(e), uint8(r.Uint32()), values(r, e, make([]byte, 2*e.Bytes()*r.IntN(40))))
		}
	}
	all := implementations()
	f.Fuzz(func(t *testing.T, o, el, offsets uint8, data []byte) {
		op, e := Op(o), Elem(el)
		if Find(op, e) == nil {
			return
		}
		size := len(data) / 2 / e.Bytes() * e.Bytes()
		acc, in := data[:size], data[size:2*size]
		want := naive(op, e, acc, in)
		offAcc, offIn := int(offsets&15), int(offsets>>4)
		accRoom, inRoom := room(size+192), room(size+192)
		for _, im := range all {
			a, b := place(accRoom, offAcc, acc), place(inRoom, offIn, in)
			for _, into := range [][]byte{make([]byte, size), a} {
				im.t[op][e](into, a, b)
				if err := same(e, into, want); err != nil {
					t.Fatalf("%s: %v of %v: %v", im.name, op, e, err)
				}
			}
			if !intact(accRoom, offAcc, size) || !bytes.Equal(b, in) {
				t.Fatalf("%s: %v of %v: wrote elsewhere", im.name, op, e)
			}
		}
	})
}
