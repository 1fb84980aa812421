package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/bench/internal/record"
)

// tolerance is by how much a ratio may get worse, as a fraction of the recorded
// one.
const tolerance = 0.25

// A loss is a ratio that got worse by more than that.
type loss struct {
	row      key
	peer     string
	was, now float64
}

func (l loss) String() string {
	return fmt.Sprintf("%s: %s of %s, was %s", l.row.name(), ratio(l.now), l.peer, ratio(l.was))
}

// worse returns the rows whose ratio to a peer got worse than recorded. Rows and
// peers that only one side has are no losses, nor are cgo twins.
func worse(old, now *results) []loss {
	var bad []loss
	for _, row := range now.Rows {
		i := indexOf(old.Rows, row.key())
		if i < 0 {
			continue
		}
		for _, p := range now.About.Peers {
			v, measured := row.Peers[p.Name]
			was, recorded := old.Rows[i].Peers[p.Name]
			if measured && recorded && !p.Twin && lost(row.Unit, was.Ratio, v.Ratio) {
				bad = append(bad, loss{row.key(), p.Name, was.Ratio, v.Ratio})
			}
		}
	}
	return bad
}

func lost(unit string, was, now float64) bool {
	if record.MoreIsBetter(unit) {
		return now < was*(1-tolerance)
	}
	return now > was*(1+tolerance)
}

// both returns the losses of a that are also in b, with a's figures.
func both(a, b []loss) []loss {
	return slices.DeleteFunc(slices.Clone(a), func(x loss) bool {
		return !slices.ContainsFunc(b, func(y loss) bool { return x.row == y.row && x.peer == y.peer })
	})
}

// concerned returns the tasks that measure a lost row.
func concerned(ts []task, bad []loss) []task {
	return slices.DeleteFunc(slices.Clone(ts), func(t task) bool {
		return !slices.ContainsFunc(bad, func(l loss) bool { return t.measures(l.row) })
	})
}

// recorded returns the tasks that measure a recorded row: the others would take time
// and be compared with nothing.
func recorded(ts []task, old *results) []task {
	return slices.DeleteFunc(slices.Clone(ts), func(t task) bool {
		return !slices.ContainsFunc(old.Rows, func(r Row) bool { return t.measures(r.key()) })
	})
}
