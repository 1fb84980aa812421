package tree

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// next is the search of the published rule, in place of T4 and T5, for comparisons. Programs that
// are built with the tag "published" use it (bench/tree). The agent joins the nearest ancestor that
// is not declared dead, alive or not. Only the failure detector, which observes this ancestor and
// the higher ones from now on, finds its death.
func (t *Tree) next(now mono.Time) {
	left := slices.DeleteFunc(slices.Clone(t.ancestors), func(a Ref) bool { return slices.Contains(t.dead, a.ID) })
	if len(left) == 0 {
		t.ask()
		return
	}
	t.act(Observe{Whom: slices.Clone(left[:min(len(left), t.cfg.Observed)])})
	t.join(left[0], now)
	t.due = 0 // a join has no timeout
}

// again schedules another attempt of a failed join, because the failure is no evidence of a death.
func (t *Tree) again(now mono.Time) {
	t.phase, t.due = Joining, now.Add(askFirst)
}
