package tree

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// next is the search of the rule as it was published, in the place of T4 and T5, for comparisons:
// it is in programs that are built with the tag "published" (bench/tree). The nearest ancestor that
// is not held for dead is joined, whether it lives or not. Only the failure detector, which
// observes it and those above it from now on, tells that it does not.
func (t *Tree) next(now mono.Time) {
	left := slices.DeleteFunc(slices.Clone(t.ancestors), func(a Ref) bool { return slices.Contains(t.dead, a.ID) })
	if len(left) == 0 {
		t.ask()
		return
	}
	t.act(Observe{Whom: slices.Clone(left[:min(len(left), t.cfg.Observed)])})
	t.join(left[0], now)
	t.due = 0 // a join has no end of its own
}

// again has a join that came to nothing tried once more a while later: that is no evidence.
func (t *Tree) again(now mono.Time) {
	t.phase, t.due = Joining, now.Add(askFirst)
}
