//go:build !amd64 || race

package segment

// canStream reports whether stream is any different from move.
const canStream = false

func move(dst, src []byte) { copy(dst, src) }

func stream(dst, src []byte) { copy(dst, src) }
