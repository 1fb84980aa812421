package kernel

// Scalar returns the function that combines two elements, given and returned as their bit patterns
// in the lowest bits of a word. Nil: the pair does not exist, or the elements have more than 8
// bytes. Scalar agrees with Find.
func Scalar(op Op, elem Elem) func(acc, in uint64) uint64 {
	if op < Sum || op > LXor || elem < Int8 || elem > Bool {
		return nil
	}
	return scalars[op][elem]
}

type scalarRow [Bool + 1]func(acc, in uint64) uint64

var scalars = [LXor + 1]scalarRow{
	Sum:  scalarSums,
	Prod: scalarProducts,
	Max:  scalarMaxima,
	Min:  scalarMinima,
	BAnd: sameForIntegers(func(a, b uint64) uint64 { return a & b }),
	BOr:  sameForIntegers(func(a, b uint64) uint64 { return a | b }),
	BXor: sameForIntegers(func(a, b uint64) uint64 { return a ^ b }),
	LAnd: sameForBoolsToo(func(a, b uint64) uint64 { return truth(a) & truth(b) }),
	LOr:  sameForBoolsToo(func(a, b uint64) uint64 { return truth(a) | truth(b) }),
	LXor: sameForBoolsToo(func(a, b uint64) uint64 { return truth(a) ^ truth(b) }),
}

func sameForIntegers(f func(a, b uint64) uint64) (r scalarRow) {
	for e := Int8; e <= Uint64; e++ {
		r[e] = f
	}
	return r
}

func sameForBoolsToo(f func(a, b uint64) uint64) (r scalarRow) {
	r = sameForIntegers(f)
	r[Bool] = f
	return r
}
