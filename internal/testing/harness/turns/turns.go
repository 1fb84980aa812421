// Package turns compares settings of a measurement that have their turn in each round, one after
// the other: a machine may have two speeds, so figures of different rounds are never compared.
package turns

import (
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A Kind is an operation of a size.
type Kind struct {
	Bench   string
	N, Size int
	Unit    string
}

// KindOf is what a record is of.
func KindOf(r record.Record) Kind { return Kind{r.Bench, r.N, r.Size, r.Unit} }

func (k Kind) String() string {
	if k.Size == 0 {
		return fmt.Sprintf("%s, %d ranks", k.Bench, k.N)
	}
	return fmt.Sprintf("%s of %d B, %d ranks", k.Bench, k.Size, k.N)
}

// Turns has the figures of each kind, by setting and round.
type Turns struct {
	Kinds []Kind // in the order in which they came

	settings int
	base     []int
	values   map[Kind][][]float64
}

// New returns an empty one of so many settings, of which some are what the others are compared
// with.
func New(settings int, base ...int) *Turns {
	return &Turns{settings: settings, base: base, values: map[Kind][][]float64{}}
}

// Add adds what came of the next round of a setting.
func (t *Turns) Add(setting int, k Kind, value float64) {
	if t.values[k] == nil {
		t.Kinds = append(t.Kinds, k)
		t.values[k] = make([][]float64, t.settings)
	}
	t.values[k][setting] = append(t.values[k][setting], value)
}

// Of returns the figures of a setting, by round.
func (t *Turns) Of(k Kind, setting int) []float64 { return t.values[k][setting] }

// baseOf returns what the settings that are compared with took in a round, and whether all have had
// their turn.
func (t *Turns) baseOf(k Kind, round int) (all []float64, whole bool) {
	for _, b := range t.base {
		if round >= len(t.values[k][b]) {
			return nil, false
		}
		all = append(all, t.values[k][b][round])
	}
	return all, true
}

// Overheads is how much more time a setting took in each round than those it is compared with did
// in the mean, as a fraction; below 0 if it was faster.
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

// Sigma is the standard deviation of those that are compared with, from their mean in the same
// round, as a fraction of it: what equal settings differ by. It is 0 of less than two.
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

// Order is in which order settings have their turns in a round: the first of them first and the
// last one last, those between in their order, and in every other round the other way about, so
// that a machine which gets slower is no overhead of some of them.
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
