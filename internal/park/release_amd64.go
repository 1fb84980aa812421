//go:build !race

package park

// release stores 0, after all that was read and written before: this processor makes
// stores in their order. It is in assembly so that the compiler cannot move it.
//
//go:noescape
func release(p *uint64)
