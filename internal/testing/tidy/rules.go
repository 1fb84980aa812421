package tidy

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// RulesPath is the page that explains the rule ids which comments and tests
// cite.
const RulesPath = "docs/SEMANTICS.md"

// families are the rule ids: a letter, and the numbers 1 to last.
var families = []struct {
	letter string
	last   int
}{{"R", 68}, {"A", 28}, {"B", 27}, {"C", 11}, {"F", 13}, {"W", 24}, {"V", 14}}

var ruleRow = regexp.MustCompile(`(?m)^\| \*{0,2}([A-Z]\d+)\*{0,2} \| *(.*?) *\|`)

// Rules requires one row per rule on the page, with a sentence, and no rule above the numbers here.
func Rules(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, RulesPath)
	if err != nil {
		return nil, err
	}
	rows := map[string]int{}
	var found []Finding
	for _, m := range ruleRow.FindAllStringSubmatch(string(page), -1) {
		rows[m[1]]++
		if !strings.HasSuffix(m[2], ".") {
			found = append(found, Finding{RulesPath, m[1] + " is not a sentence"})
		}
	}
	for _, f := range families {
		for i := 1; i <= f.last; i++ {
			if id := f.letter + strconv.Itoa(i); rows[id] != 1 {
				found = append(found, Finding{RulesPath, fmt.Sprintf("%d rows for rule %s instead of one", rows[id], id)})
			}
		}
		if id := f.letter + strconv.Itoa(f.last+1); rows[id] != 0 {
			found = append(found, Finding{RulesPath, "rule " + id + " is above the last number in rules.go of tidy"})
		}
	}
	return found, nil
}
