//go:build !published

package tree

// Published is true if the search is that of the published rule.
const Published = false
