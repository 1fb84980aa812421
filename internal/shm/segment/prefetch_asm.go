//go:build amd64 || arm64

package segment

// prefetchWrite asks for the line of a cell that will be written soon: it is in the
// consumer's cache, and getting it takes longer than everything else that a small
// message needs.
//
//go:noescape
func prefetchWrite(p *uint64)

// Soon says that the line with a word will be written soon.
func Soon(p *uint64) { prefetchWrite(p) }
