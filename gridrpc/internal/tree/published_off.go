//go:build !published

package tree

// Published says that the search is that of the published rule.
const Published = false
