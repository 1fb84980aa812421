package tidy

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	lowerProse   = flag.Bool("update-prose", false, "lower the ceilings of prose to the values of today; raises none")
	rewriteProse = flag.Bool("rewrite-prose", false, "write the values of today as ceilings, after packages have moved")
	draw         = flag.Int("draw", 0, "print this number of comments, drawn by -seed")
	seed         = flag.Uint64("seed", 0, "for -draw; 0: a new one, which is printed")
)

// The gate: no package and no page is above its goal or its ceiling. With -v the test prints the
// table of the whole tree.
func TestProse(t *testing.T) {
	tree, err := Load(os.DirFS("../../.."))
	require.NoError(t, err)
	if *lowerProse || *rewriteProse {
		updateCeilings(t, tree)
	}
	ceilings, err := ReadCeilings(tree.Files)
	require.NoError(t, err)
	found, err := Prose(tree, ceilings)
	report(t, found, err)
	if testing.Verbose() {
		table, err := ProseTable(tree)
		require.NoError(t, err)
		t.Log("\n" + table)
	}
	if *draw > 0 {
		if *seed == 0 {
			*seed = rand.Uint64()
		}
		t.Logf("%d comments, drawn by -seed %d", *draw, *seed)
		for _, c := range DrawComments(tree, *draw, *seed) {
			t.Log(c)
		}
	}
}

func updateCeilings(t *testing.T, tree *Tree) {
	t.Helper()
	ceilings, err := ProseToday(tree)
	require.NoError(t, err)
	if !*rewriteProse {
		old, err := ReadCeilings(tree.Files)
		require.NoError(t, err)
		ceilings = old.lowered(ceilings)
	}
	require.NoError(t, os.WriteFile(filepath.Join("../../..", ProsePath), []byte(ceilings.String()), 0o666))
}

func TestCountsOfText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       counts
	}{
		{"plain", "A rank dies. The others shrink.", counts{words: 6, sentences: 2}},
		{"who and what", "Who asks, and what for? Whatever whose rank whom told.", counts{words: 10, who: 5, pronouns: 5, verbs: 1, sentences: 2, openers: 2}},
		{"whose does not open a noun", "Whose turn is next.", counts{words: 4, who: 1, pronouns: 1, sentences: 1}},
		{"one", "It takes that one, no one, one rank.", counts{words: 8, pronouns: 3, sentences: 1}},
		{"verbs", "Ranks look, say, tell, hear, want, go and are gone.", counts{words: 10, verbs: 7, sentences: 1}},
		{"the language and its command", "Go programs: run go test here.", counts{words: 6, sentences: 1}},
		{"habits", "The process asks the latter, then the former process.", counts{words: 9, process: 1, latter: 2, sentences: 1}},
		{"abbreviation", "Words, e.g. These, are one sentence.", counts{words: 7, sentences: 1}},
		{"paragraphs", "one\n\ntwo\n\n\nthree", counts{words: 3, sentences: 3}},
		{"a long sentence", strings.Repeat("word ", longSentence+1) + ".", counts{words: 36, sentences: 1, long: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got counts
			got.countText("x:1", c.text, true)
			got.lengths, got.last = nil, nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestLengthsOfSentences(t *testing.T) {
	var c counts
	c.countText("x:1", "One two three. One two three four five. Two words. One two three four.", true)
	require.Equal(t, []int{3, 5, 4}, c.lengths, "sentences of two words are headings and labels")
	require.Equal(t, 4.0, c.mean())
	require.Equal(t, 5.0, c.percentile(90))
	require.Zero(t, (&counts{}).percentile(90))
}

func TestCountsOfSource(t *testing.T) {
	const wide = "// it is a line of more than one hundred columns, which the check counts as wide, because more is too much"
	tree, _ := fake(t, map[string]string{
		"era/a.go": "// Package era is what it was.\n//\n//\twhat who whom code\n//\n//   - an item\npackage era\n\n//go:generate what is it\n" + wide + "x\n" +
			"type t struct {\n\ta int `json:\"what who it\" x:\"who\"`\n}\n" +
			"var a = \"two words\" + \" or what\" + x + \" it is\"\nvar b = f(\"who is it\", \"x := what it is\")\n",
		"era/a_test.go": "package era\n\nvar a = \"what who whom is that\" // tests have comments alone: what\n",
	})
	units, err := proseUnits(tree)
	require.NoError(t, err)
	require.Equal(t, "era", units[0].name)
	c := units[0].counts
	require.Equal(t, 4, c.who, "the package, two strings, and the test's comment")
	require.Equal(t, 8, c.pronouns)
	require.Equal(t, 6, c.lines)
	require.Equal(t, 1, c.wide)
	require.Equal(t, 1, c.openers)
	require.Equal(t, "era/a.go:9", c.last["wide"])
}

func TestCountsOfPages(t *testing.T) {
	var c counts
	countPage(&c, "a.md", "# What it is\n\nA rank `what who\nit` sends [what](who.md).\n\n```go\nwhat := it\n```\n\n    what who it\n\n"+
		"* Who sends\n  tells.\n* "+strings.Repeat("word ", bulletWords+1)+"\n\n"+strings.Repeat("word ", paragraphWords+1)+
		"\n\n| what | a |\n|---|---|\n| it | "+strings.Repeat("word ", cellWords+1)+"|\n")
	require.Equal(t, 3, c.who)
	require.Equal(t, 4, c.pronouns)
	require.Equal(t, 2, c.openers, "an item and a cell")
	require.Equal(t, 1, c.verbs)
	require.Equal(t, []int{5, 3, bulletWords + 1, paragraphWords + 1}, c.lengths)
	require.Equal(t, []int{1, 1, 1}, []int{c.bullets, c.paragraphs, c.cells})
	require.Equal(t, 2, c.wide)
	require.Equal(t, "a.md:20", c.last["cells"])
}

func TestProseOnFakeTrees(t *testing.T) {
	const text = "// Package era is what it is.\npackage era\n"
	for _, c := range []struct {
		name, source, ceilings string
		want                   []string
	}{
		{"meets the goals", "// Package era is fake.\npackage era\n", "", nil},
		{"one word of few is let pass", "// Package era is what ends.\npackage era\n", "", nil},
		{"above a goal", text, "", []string{"era: pronouns 333.4 is above the goal 20.0, for example in era/a.go:1"}},
		{"at its ceiling", text, "era: pronouns 333.4\n", nil},
		{"above its ceiling", text + "\n// f: whose, what, it and who.\nfunc f() {}\n", "# note\nera: who 166.7, pronouns 333.4\n",
			[]string{"era: who 333.4 is above the ceiling 166.7", "era: pronouns 500.0 is above the ceiling 333.4"}},
		{"below its ceiling", text, "era: pronouns 400.0\n", []string{"era: pronouns is 333.4: lower its ceiling of 400.0"}},
		{"meets the goal now", text, "era: who 200.0, pronouns 333.4\n", []string{"era: who is 166.7: lower its ceiling of 200.0"}},
		{"gone", text, "era: pronouns 333.4\nfd: who 10.0\n", []string{"fd: is gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{"era/a.go": c.source, ProsePath: c.ceilings})
			ceilings, err := ReadCeilings(tree.Files)
			require.NoError(t, err)
			found, err := Prose(tree, ceilings)
			require.NoError(t, err)
			want(t, found, c.want...)
		})
	}
	tree, _ := fake(t, map[string]string{ProsePath: "era: width 3.0\n"})
	_, err := ReadCeilings(tree.Files)
	require.ErrorContains(t, err, `"width 3.0" is not a measure`)
}

func TestCeilingsFallAlone(t *testing.T) {
	tree, _ := fake(t, map[string]string{
		"era/a.go":  "// Package era is what it is.\npackage era\n",
		"fd/a.go":   "// Package fd is what it is, or who.\npackage fd\n",
		"ulfm/a.go": "// Package ulfm is fake.\npackage ulfm\n",
	})
	today, err := ProseToday(tree)
	require.NoError(t, err)
	require.Equal(t, Ceilings{"docs/ARCHITECTURE.md": {}, "era": {"pronouns": 333.4}, "fd": {"who": 250, "pronouns": 375}, "ulfm": {}}, today)

	old := Ceilings{"era": {"pronouns": 400, "who": 200}, "fd": {"pronouns": 100}, "ulfm": {"who": 10}, "gone": {"who": 3}}
	low := old.lowered(today)
	require.Equal(t, "era: pronouns 333.4\nfd: pronouns 100.0\n", strings.SplitAfterN(low.String(), "\n", 2)[1])
}

func TestDrawnCommentsFollowTheSeed(t *testing.T) {
	source := "// Package era is fake.\npackage era\n"
	for i := range 40 {
		source += "\n// a comment of eight words with the number " + strings.Repeat("I", i+1) + "\n\n// short\n"
	}
	tree, _ := fake(t, map[string]string{"era/a.go": source})
	drawn := DrawComments(tree, 20, 7)
	require.Len(t, drawn, 20)
	require.Equal(t, drawn, DrawComments(tree, 20, 7))
	require.NotEqual(t, drawn, DrawComments(tree, 20, 8))
	require.Len(t, DrawComments(tree, 100, 7), 40, "short comments are not drawn")
}

func TestTableOfProse(t *testing.T) {
	tree, _ := fake(t, map[string]string{"era/a.go": "// Package era is what it is: the process.\npackage era\n"})
	table, err := ProseTable(tree)
	require.NoError(t, err)
	require.Regexp(t, `(?m)^era +8 +125.0  +250.0\* .* - +125.0 +0.0 +0.0$`, table)
	require.Regexp(t, `(?m)^all packages +8 `, table)
	require.Regexp(t, `(?m)^all pages `, table)
}

func TestFormOfReadme(t *testing.T) {
	tree, err := Load(os.DirFS("../../.."))
	require.NoError(t, err)
	found, err := ReadmeForm(tree)
	report(t, found, err)

	tree, _ = fake(t, map[string]string{"README.md": "| " + strings.Repeat("w ", readmeCellWords+1) + "|\n" +
		strings.Repeat("x", readmeColumns+1) + strings.Repeat("\n", readmeLines)})
	found, err = ReadmeForm(tree)
	require.NoError(t, err)
	want(t, found, "README.md: 131 lines", "README.md:1: a cell of 13 words", "README.md:2: 101 columns")
}
