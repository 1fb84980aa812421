package tidy

import "testing"

// rule is a fake package of tier 1 with the given declarations.
func rule(imports, decls string) map[string]string {
	return map[string]string{
		"internal/set/set.go": `package set

type Set map[int]bool

func All() Set { return nil }
`,
		"era/era.go": "package era\n" + imports + "\n" + decls + "\n",
	}
}

func TestPureOnFakeRules(t *testing.T) {
	for _, c := range []struct {
		name, imports, decls string
		want                 []string
	}{
		{"plain", `import "errors"`, `var ErrA = errors.New("a"); const c = 1; type T struct{ m map[int]int }; func (t *T) Step() int { return t.m[c] }`, nil},
		{"assertion", ``, `type I interface{ is() }; type T struct{}; func (T) is() {}; var _ I = T{}`, nil},
		{"error of a type of its own", ``, `type e string; func (e e) Error() string { return string(e) }; const a = e("a"); var errA error = a`, nil},
		{"ranges in order", `import "slices"`, `func f(s []int, n int, a [2]int) { for range s {}; for range n {}; for range a {}; for range "x" {}; for range slices.Values(s) {} }`, nil},
		{"seeded", `import "math/rand/v2"`, `func f(s uint64) *rand.Rand { return rand.New(rand.NewPCG(s, 1)) }`, nil},
		{"maps without order", `import "maps"`, `func f(m map[int]int) map[int]int { return maps.Clone(m) }`, nil},
		{"our packages", `import "example.org/m/internal/set"`, `func f() int { return len(set.All()) }`, nil},
		{"a local variable", ``, `func f() int { var x = 1; return x }`, nil},

		{"go", ``, `func f() { go f() }`, []string{"go statement"}},
		{"select", ``, `func f() { select {} }`, []string{"select"}},
		{"channel", ``, `func f(c chan int) { c <- 1; <-c; for range c {} }`, []string{"channel in a rule", "send on a channel", "receive from a channel", "ranging over a channel"}},
		{"map", ``, `func f(m map[int]int) { for range m {} }`, []string{"era/era.go:3: ranging over a map"}},
		{"map in a field", ``, `type T struct{ m map[int]int }; func (t *T) f() { for k := range t.m { _ = k } }`, []string{"ranging over a map"}},
		{"map of another package", `import "example.org/m/internal/set"`, `func f() { for range set.All() {} }`, []string{"ranging over a map"}},
		{"map as a type parameter", ``, `func f[M ~map[K]V | ~[]V, K comparable, V any](m M) { for range m {} }`, []string{"ranging over a map"}},
		{"map behind a constraint", ``, `type C interface{ ~map[int]int }; func f[M C](m M) { for range m {} }`, []string{"ranging over a map"}},
		{"map behind two constraints", ``, `type C interface{ ~map[int]int }; type D interface{ C }; func f[M D](m M) { for range m {} }`, []string{"ranging over a map"}},
		{"map itself as the constraint", ``, `type C interface{ map[int]int }; func f[M C](m M) { for range m {} }`, []string{"ranging over a map"}},
		{"map from the standard library", `import "maps"`, `func f(m map[int]int) { for range maps.Clone(m) {} }`, []string{"ranging over a map"}},
		{"map in an order by chance", `import "maps"`, `func f(m map[int]int) { for range maps.Keys(m) {} }`, []string{"maps.Keys in a rule: only Clone"}},
		{"unknown", ``, `func f() { for range undefined {} }`, []string{"type after range is unknown"}},
		{"variable", ``, `var cache = map[int]int{}`, []string{"package variable cache"}},
		{"variable called an error", ``, `var errs = 3`, []string{"package variable errs"}},
		{"error called something else", `import "errors"`, `var Bad = errors.New("x")`, []string{"package variable Bad"}},
		{"two variables", ``, `var (a, _, b int)`, []string{"package variable a", "package variable b"}},
		{"time", `import "time"`, `func f(d time.Duration) {}`, []string{"may not import time"}},
		{"net", `import "net/netip"`, `func f(d netip.Addr) {}`, []string{"may not import net/netip"}},
		{"os", `import "os"`, `func f() { os.Exit(1) }`, []string{"may not import os"}},
		{"sync", `import "sync/atomic"`, `func f(x *atomic.Int32) {}`, []string{"may not import sync/atomic"}},
		{"context", `import c "context"`, `func f(x c.Context) {}`, []string{"may not import context"}},
		{"unseeded", `import "math/rand"`, `func f() int { return rand.Int() }`, []string{"math/rand.Int in a rule"}},
		{"unseeded under another name", `import r "math/rand/v2"`, `func f() int { return r.IntN(3) }`, []string{"math/rand/v2.IntN in a rule"}},
		{"hidden by a dot", `import . "math/rand"`, `func f() int { return Int() }`, []string{"names what it imports"}},
		{"third party", `import "example.com/x"`, `func f() { x.F() }`, []string{"may not import example.com/x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, table := fake(t, rule(c.imports, c.decls))
			want(t, Pure(tree, table), c.want...)
		})
	}
}

func TestPureHoldsTierOneOnly(t *testing.T) {
	impure := "import \"time\"\nvar state = time.Now()\nfunc f() { go f() }\n"
	tree, table := fake(t, map[string]string{
		"internal/engine/a.go": "package engine\n" + impure,
		"era/era.go":           "package era\n",
		"era/era_test.go":      "package era\n" + impure,
	})
	want(t, Pure(tree, table))
}

// One name under two build tags is how internal/base/must switches its checks. Pure checks both
// files.
func TestPureSeesEveryBuildTag(t *testing.T) {
	tree, table := fake(t, map[string]string{
		"era/on.go":  "//go:build x\n\npackage era\nfunc f(m map[int]int) { for range m {} }\n",
		"era/off.go": "//go:build !x\n\npackage era\nfunc f(m map[int]int) { for range m {} }\n",
	})
	want(t, Pure(tree, table), "era/on.go:4: ranging", "era/off.go:4: ranging")
}
