package tidy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlossary(t *testing.T) {
	tree, err := Load(os.DirFS("../../.."))
	require.NoError(t, err)
	found, err := Glossary(tree)
	report(t, found, err)
}

func TestGlossaryOnFakePages(t *testing.T) {
	row := func(terms ...string) string {
		return "| **" + strings.Join(terms, "**, **") + "** | a meaning of **bold** |\n"
	}
	files := map[string]string{
		"era/a.go":      "// Package era is fake: Rank, lease.\npackage era\n",
		"era/a_test.go": "package era\n\n// verdict\n",
		GlossaryPath:    "**free** text\n" + row("rank") + row("lease", "rank") + row("verdict"),
	}
	tree, _ := fake(t, files)
	found, err := Glossary(tree)
	require.NoError(t, err)
	want(t, found, GlossaryPath+":3: rank stands on line 2 already", GlossaryPath+":4: no source file contains verdict")

	files[GlossaryPath] = ""
	for i := range glossaryTerms + 1 {
		files["era/a.go"] += fmt.Sprintf("// term%d.\n", i)
		files[GlossaryPath] += row(fmt.Sprintf("term%d.", i))
	}
	tree, _ = fake(t, files)
	found, err = Glossary(tree)
	require.NoError(t, err)
	want(t, found, "71 terms are more than 70")
}
