package kernel

import "strconv"

// An Op is an operation that combines two elements.
type Op uint8

// The operations. Sum and Prod take every Elem but Bool; Max and Min the integers
// and floats; BAnd, BOr, BXor (bitwise) the integers; LAnd, LOr, LXor (logical)
// the integers and Bool.
const (
	Sum Op = iota + 1
	Prod
	Max
	Min
	BAnd
	BOr
	BXor
	LAnd
	LOr
	LXor
)

var opNames = [...]string{Sum: "sum", Prod: "prod", Max: "max", Min: "min", BAnd: "band", BOr: "bor", BXor: "bxor",
	LAnd: "land", LOr: "lor", LXor: "lxor"}

// String returns the name, as "sum".
func (o Op) String() string {
	if o < Sum || o > LXor {
		return "operation " + strconv.Itoa(int(o))
	}
	return opNames[o]
}

// An Elem is the type of an element, in the byte order of the machine. Go's int
// and uint are Int64 and Uint64 where they have 64 bits.
type Elem uint8

// The types of elements.
const (
	Int8 Elem = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	Bool
)

var elems = [...]struct {
	name  string
	bytes int
}{
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Float32: {"float32", 4}, Float64: {"float64", 8}, Complex64: {"complex64", 8}, Complex128: {"complex128", 16},
	Bool: {"bool", 1},
}

// Bytes returns the size of one element, and 0 for an invalid Elem.
func (e Elem) Bytes() int {
	if e > Bool {
		return 0
	}
	return elems[e].bytes
}

// String returns Go's name of the type, as "float64".
func (e Elem) String() string {
	if e < Int8 || e > Bool {
		return "element " + strconv.Itoa(int(e))
	}
	return elems[e].name
}

// A Func sets dst[i] = acc[i] op in[i] for all elements. dst may be acc, or in. The slices have one
// length, a multiple of the element's size, and need no alignment; aligned ones are faster. A Func
// panics, before it touches the slices, when the lengths differ. It allocates nothing, and several
// goroutines may call it at once.
type Func func(dst, acc, in []byte)

// Find returns the fastest Func of an operation on elements of one type, and nil for a pair that
// does not exist, such as BAnd of floats.
func Find(op Op, e Elem) Func {
	if op > LXor || e > Bool {
		return nil
	}
	return fastest[op][e]
}

// A table holds one Func for each pair that exists.
type table [LXor + 1][Bool + 1]Func

// fastest never changes after it is made.
var fastest = choose()

func choose() *table {
	t := plain
	if raceDetector {
		return &t
	}
	for _, l := range layers() {
		l.over(&t)
	}
	return &t
}

// equal panics on operands of different lengths. Assembly does not check lengths, and would run
// past the end of the shorter ones.
func equal(dst, acc, in []byte) {
	if len(dst) != len(acc) || len(acc) != len(in) {
		panic("kernel: operands of different lengths")
	}
}
