//go:build amd64 || arm64

package segment

// prefetchWrite requests the line of a cell that will be written soon. The line is in the
// consumer's cache, and to fetch a line takes longer than all other steps of a small message.
//
//go:noescape
func prefetchWrite(p *uint64)

// Soon announces a store to the line of a word.
func Soon(p *uint64) { prefetchWrite(p) }
