// Package turns compares settings of a measurement. Each round measures all settings, one after the
// other. Figures of different rounds are never compared, because a machine may have two speeds.
package turns

import (
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A Kind is an operation with a number of ranks, a size and a unit.
type Kind struct {
	Bench   string
	N, Size int
	Unit    string
}

// KindOf returns the kind of a record.
func KindOf(r record.Record) Kind { return Kind{r.Bench, r.N, r.Size, r.Unit} }

func (k Kind) String() string {
	if k.Size == 0 {
		return fmt.Sprintf("%s, %d ranks", k.Bench, k.N)
	}
	return fmt.Sprintf("%s of %d B, %d ranks", k.Bench, k.Size, k.N)
}

// Turns has the figures of each kind, by setting and round.
type Turns struct {
	Kinds []Kind // in the order of their first figures

	settings int
	base     []int
	values   map[Kind][][]float64
}

// New returns an empty Turns with a number of settings. All are compared with those in base.
func New(settings int, base ...int) *Turns {
	return &Turns{settings: settings, base: base, values: map[Kind][][]float64{}}
}

// Add adds the figure of the next round of a setting.
func (t *Turns) Add(setting int, k Kind, value float64) {
	if t.values[k] == nil {
		t.Kinds = append(t.Kinds, k)
		t.values[k] = make([][]float64, t.settings)
	}
	t.values[k][setting] = append(t.values[k][setting], value)
}

// Of returns the figures of a setting, by round.
func (t *Turns) Of(k Kind, setting int) []float64 { return t.values[k][setting] }

// baseOf returns the figures of the base settings in a round, and whether all of them have one.
func (t *Turns) baseOf(k Kind, round int) (all []float64, whole bool) {
	for _, b := range t.base {
		if round >= len(t.values[k][b]) {
			return nil, false
		}
		all = append(all, t.values[k][b][round])
	}
	return all, true
}

// Overheads returns, for each round, the additional time of a setting relative to the mean of the
// base settings, as a fraction; below 0 if the setting was faster.
func (t *Turns) Overheads(k Kind, setting int) (all []float64) {
	for round, v := range t.values[k][setting] {
		base, whole := t.baseOf(k, round)
		if !whole {
			break
		}
		ratio := v / mean(base)
		if record.MoreIsBetter(k.Unit) {
			ratio = 1 / ratio
		}
		all = append(all, ratio-1)
	}
	return all
}

// Sigma returns the standard deviation of the base settings from their mean in the same round, as a
// fraction of the mean: the difference of equal settings. It is 0 for fewer than two.
func (t *Turns) Sigma(k Kind) float64 {
	squares, free := 0.0, 0
	for round := 0; ; round++ {
		base, whole := t.baseOf(k, round)
		if !whole || len(base) < 2 {
			break
		}
		for _, v := range base {
			d := v/mean(base) - 1
			squares += d * d
		}
		free += len(base) - 1
	}
	return math.Sqrt(squares / float64(max(free, 1)))
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Order returns the order of the settings in a round. The first setting is first and the last one
// is last. Those between ascend in one round and descend in the next. So a machine that becomes
// slower adds no overhead to some of them.
func Order(settings, round int) []int {
	order := make([]int, settings)
	for i := range order {
		order[i] = i
	}
	if settings > 2 && round%2 == 1 {
		slices.Reverse(order[1 : settings-1])
	}
	return order
}
