package tidy

import (
	"os"
	"sync"
	"testing"
)

// The gate: every check on the repository itself.

// load reads the repository once for all tests, which do not change it.
var load = sync.OnceValues(func() (*Tree, error) { return Load(os.DirFS("../../..")) })

func repository(t *testing.T) (*Tree, *Table) {
	t.Helper()
	tree, err := load()
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(tree.Files)
	if err != nil {
		t.Fatal(err)
	}
	return tree, table
}

func report(t *testing.T, found []Finding, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestImportsFollowTheTable(t *testing.T) {
	tree, table := repository(t)
	report(t, Imports(tree, table), nil)
}

func TestRulesArePure(t *testing.T) {
	tree, table := repository(t)
	report(t, Pure(tree, table), nil)
}

func TestNothingInternalIsPublished(t *testing.T) {
	tree, _ := repository(t)
	report(t, Surface(tree), nil)
}

func TestPackagesHaveComments(t *testing.T) {
	tree, _ := repository(t)
	report(t, Comments(tree), nil)
}

func TestReadmeIsAnExample(t *testing.T) {
	tree, _ := repository(t)
	found, err := Readme(tree)
	report(t, found, err)
}

func TestEveryRuleIsExplained(t *testing.T) {
	tree, _ := repository(t)
	found, err := Rules(tree)
	report(t, found, err)
}

func TestNothingIsLeftOver(t *testing.T) {
	tree, _ := repository(t)
	found, err := Text(tree)
	report(t, found, err)
}
