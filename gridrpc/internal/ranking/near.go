package ranking

import (
	"cmp"
	"slices"
)

// nearMax bounds the number of similar names in an answer.
const nearMax = 3

// Near returns the known services with names most similar to that of an unknown service.
func (t *Table) Near(service string) []string {
	var names []string
	for _, e := range t.Estimates("") {
		if !slices.Contains(names, e.Service) {
			names = append(names, e.Service)
		}
	}
	names = Nearest(service, names)
	return names[:min(len(names), nearMax)]
}

// Nearest returns names in the order of their distance from a word.
func Nearest(word string, names []string) []string {
	return slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(Distance(word, a), Distance(word, b)), cmp.Compare(a, b))
	})
}

// Distance returns the number of bytes to change, add or delete (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
