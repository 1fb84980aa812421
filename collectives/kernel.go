package collectives

// Name returns the name of an operation: "sum", "prod", "max", "min", "band", "bor", "bxor",
// "land", "lor", "lxor", or "custom" for an operation of the program.
func (k Kernel[T]) Name() string { return k.code.String() }

// Fold combines elements by an operation of the program: acc[i] = acc[i] op in[i] for all i. Fold
// returns false for operations of this package, which are not functions of the program.
func (k Kernel[T]) Fold(acc, in []T) bool {
	if k.f == nil {
		return false
	}
	k.f(acc, in)
	return true
}
