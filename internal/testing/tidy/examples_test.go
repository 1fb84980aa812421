package tidy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryOperationHasAnExample(t *testing.T) {
	tree, _ := repository(t)
	found, err := Examples(tree)
	report(t, found, err)
}

const ulfmSource = `// Package ulfm is fake.
package ulfm

type Comm struct{}

func (*Comm) Agree()  {}
func (Comm) String() string { return "" }
func (*Comm) local()  {}

type Inter struct{}

func (*Inter) Agree() {}

type Pending[T any] struct{}

func (p *Pending[T]) Test() {}

type hidden struct{}

func (hidden) Exported() {}

func Send[T any](c *Comm, v T) {}

type Store interface {
	Put()
	private()
}
`

const ulfmExamples = `package ulfm_test

import "example.org/m/ulfm"

func ExampleSend() {
	var c ulfm.Comm
	ulfm.Send(&c, 1)
	func() { c.Agree() }()
}

func ExamplePending() {
	test := new(ulfm.Pending[int]).Test
	test()
}
`

// external and inside are a file with the body of an example, in the external test package and in
// the package itself.
func external(body string) string {
	return "package ulfm_test\n\nimport \"example.org/m/ulfm\"\n\nvar _ ulfm.Comm\n\n" + body
}

func inside(body string) string { return "package ulfm\n\n" + body }

func TestExamplesOnFakeTrees(t *testing.T) {
	const (
		fmtCalls = "# printed\n\nulfm.Comm.String: package fmt calls it\n"
		rest     = "ulfm.Inter.Agree: a reason\nulfm.Store.Put: a reason\n"
	)
	lacks := []string{"uses ulfm.Inter.Agree", "uses ulfm.Store.Put"}
	for _, c := range []struct {
		name, more, exceptions string // more: the text of one more file of tests
		want                   []string
	}{
		{"all", external("func ExampleInter() {\n\tnew(ulfm.Inter).Agree()\n\tvar s ulfm.Store\n\ts.Put()\n}\n"), fmtCalls, nil},
		{"in the package", inside("func ExampleInter() {\n\tnew(Inter).Agree()\n\tvar s Store\n\ts.Put()\n}\n"), fmtCalls, nil},
		{"exceptions", external(""), fmtCalls + rest, nil},
		{"another type's method", external(""), fmtCalls, lacks},
		{"in a test", external("func TestInter() {\n\tnew(ulfm.Inter).Agree()\n\tvar s ulfm.Store\n\ts.Put()\n}\n"), fmtCalls, lacks},
		{"in a helper", external("func Examples() {\n\tnew(ulfm.Inter).Agree()\n\tvar s ulfm.Store\n\ts.Put()\n}\n"), fmtCalls, lacks},
		{"no exception", external(""), rest, []string{"uses ulfm.Comm.String"}},
		{"without a reason", external(""), "ulfm.Comm.String\n" + rest, []string{`"ulfm.Comm.String": want a name and a reason`}},
		{"twice", external(""), fmtCalls + fmtCalls + rest, []string{"ulfm.Comm.String is listed twice"}},
		{"gone", external(""), fmtCalls + rest + "ulfm.Comm.Gone: a reason\n", []string{"ulfm.Comm.Gone is no exported function"}},
		{"stale", external(""), fmtCalls + rest + "ulfm.Comm.Agree: a reason\n", []string{"ulfm.Comm.Agree has an example"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{
				"ulfm/ulfm.go": ulfmSource, "ulfm/example_test.go": ulfmExamples, "ulfm/more_test.go": c.more, noExamplePath: c.exceptions,
			})
			found, err := Examples(tree)
			require.NoError(t, err)
			want(t, found, c.want...)
		})
	}
}
