package collectives

// Name returns what an operation is called: "sum", "prod", "max", "min", "band", "bor", "bxor",
// "land", "lor", "lxor", or "custom" for one of the program.
func (k Kernel[T]) Name() string { return k.code.String() }

// Fold combines elements by an operation of the program: acc[i] = acc[i] op in[i] for all i. It
// says whether it did: operations of this package are not functions of the program.
func (k Kernel[T]) Fold(acc, in []T) bool {
	if k.f == nil {
		return false
	}
	k.f(acc, in)
	return true
}
