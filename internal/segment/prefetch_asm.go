//go:build amd64 || arm64

package segment

// prefetchWrite asks for the line of a cell that will be written soon: it is in the
// consumer's cache, and getting it takes longer than everything else that a small
// message needs.
//
//go:noescape
func prefetchWrite(c *Cell)

// Soon says that a cell will be written soon.
func Soon(c *Cell) { prefetchWrite(c) }
