package tidy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const engineSource = `// Package engine is fake.
package engine

type Comm struct{}

type Numbers interface{ ~int }

var ErrFenced error
`

func TestSurfaceOnFakeTrees(t *testing.T) {
	for name, c := range map[string]struct{ source, shown string }{
		"nothing":                       {"type T struct{ c *engine.Comm }\nfunc f(engine.Comm) {}", ""},
		"an unexported method":          {"type T struct{}\nfunc (T) engine() *engine.Comm { return nil }", ""},
		"an error that engine names":    {"var ErrFenced = engine.ErrFenced", ""},
		"a result":                      {"func F() *engine.Comm { return nil }", "comm.F"},
		"a parameter, in a list":        {"func F(ctx int, cs ...engine.Comm) {}", "comm.F"},
		"a method's result":             {"type T struct{}\nfunc (*T) M() (int, map[int]engine.Comm) { return 0, nil }", "comm.M"},
		"a field":                       {"type T struct{ C chan engine.Comm }", "comm.T"},
		"a field of a field":            {"type t struct{ C engine.Comm }\ntype T struct{ In t }", "comm.T"},
		"an alias":                      {"type T = engine.Comm", "comm.T"},
		"an alias that is not exported": {"type t = engine.Comm\nfunc F() t { return t{} }", "comm.F"},
		"an interface's method":         {"type T interface{ M(func(engine.Comm)) }", "comm.T"},
		"a constraint":                  {"func F[T engine.Numbers](T) {}", "comm.F"},
		"a type argument":               {"type P[T any] struct{ v T }\nfunc F() P[engine.Comm] { return P[engine.Comm]{} }", "comm.F"},
		"a variable":                    {"var V engine.Comm", "comm.V"},
		"a type of another package":     {"func F(struct{ A [3]engine.Comm }) {}", "comm.F"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{
				"internal/engine/engine.go": engineSource,
				"comm/comm.go":              "// Package comm is fake.\npackage comm\n\nimport \"example.org/m/internal/engine\"\n\n" + c.source + "\n",
			})
			found := Surface(tree)
			if c.shown == "" {
				require.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			require.Contains(t, found[0].String(), c.shown+" shows programs example.org/m/internal/engine.")
		})
	}
}
