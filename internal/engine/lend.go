package engine

import "github.com/goulfm/goulfm/internal/shm/park"

// Lend calls f, an operation of the program, inside of a Schedule's Combine. A call of the library
// in f that needs this process's lock panics, because it would deadlock. Lend then returns true.
func Lend(f func()) (reentered bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, reentered = v.(park.Reentered); !reentered {
				panic(v)
			}
		}
	}()
	park.Lend(f)
	return false
}
