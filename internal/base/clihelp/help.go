// Package clihelp derives shell completion and man pages from the help texts of a command, so that
// a flag is described in one place.
//
// A help text has this form; blank lines separate its blocks:
//
//	usage: PROG COMMAND [flags] ARGUMENT
//
//	One or more paragraphs.
//
//	  PROG COMMAND -n 4     an example, three spaces, a remark
//
//	A title of a section:
//	  -n, -np N     a flag, the placeholder of its value, two spaces, a text
//	  --detector exact|ring   a closed set of values
//
//	Exit code: paragraphs after the sections; some titles make sections of a man page.
//
// The placeholder selects the completion of a value: see [KindOf]. [Parse] reads a help text, and
// [Program] prints the scripts and pages.
package clihelp

import (
	"regexp"
	"slices"
	"strings"
)

// A Help is a parsed help text.
type Help struct {
	Usage       []Example // command lines, with a remark where there are several
	Description []string  // paragraphs before the examples
	Examples    []Example
	Sections    []Section
	Notes       []string // paragraphs after the sections
}

// An Example is a command line and a remark.
type Example struct{ Line, Remark string }

// A Section is a group of flags or arguments.
type Section struct {
	Title string
	Items []Item
}

// An Item describes a flag, or an argument.
type Item struct {
	Names  []string // with dashes; the name of an argument
	Value  string   // placeholder of the value; "": no value
	Text   string   // lines of the help text
	Values []Item   // values that the help text explains one by one
}

// Parse reads a help text.
func Parse(text string) Help {
	var h Help
	for i, block := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		switch {
		case i == 0:
			lines[0] = strings.TrimPrefix(lines[0], "usage: ")
			h.Usage = parseExamples(lines)
		case len(lines) > 1 && strings.HasSuffix(lines[0], ":") && indent(lines[0]) == 0 && indent(lines[1]) > 0:
			h.Sections = append(h.Sections, Section{strings.TrimSuffix(lines[0], ":"), parseItems(lines[1:])})
		case indent(lines[0]) > 0:
			h.Examples = append(h.Examples, parseExamples(lines)...)
		case len(h.Sections) == 0 && !titled.MatchString(block):
			h.Description = append(h.Description, block)
		default:
			h.Notes = append(h.Notes, block)
		}
	}
	return h
}

// titled matches a paragraph that begins with its title.
var titled = regexp.MustCompile(`^(Exit code|Environment|Signals)\b[^:\n]*: `)

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

var gap = regexp.MustCompile(` {2,}`)

func parseExamples(lines []string) []Example {
	var all []Example
	for _, line := range lines {
		parts := append(gap.Split(strings.TrimSpace(line), 2), "")
		all = append(all, Example{parts[0], parts[1]})
	}
	return all
}

// flagLine is the first line of a flag: names, a value, a text. argumentLine is the line of an
// argument.
var (
	flagLine     = regexp.MustCompile(`^  (-{1,2}\w[\w-]*(?:, -{1,2}\w[\w-]*)*)(?: (\S+))?(?: {2,}(.*)| (.*))?$`)
	argumentLine = regexp.MustCompile(`^ +(\S+) {2,}(.*)$`)
)

// parseItems reads the lines of a section. A line that is indented deeper than the text of its flag
// explains one value of the flag.
func parseItems(lines []string) []Item {
	var items []Item
	column, inner := textColumn(lines), 0 // of the texts of flags, and of those of values of one flag
	for _, line := range lines {
		text := strings.TrimSpace(line)
		if indent(line) == 2 {
			items = append(items, parseItem(line))
			inner = 0
			continue
		}
		if len(items) == 0 {
			continue
		}
		last := &items[len(items)-1]
		m := argumentLine.FindStringSubmatch(line)
		switch {
		case indent(line) >= column+2 && m != nil && (inner == 0 || indent(line) < inner):
			last.Values = append(last.Values, Item{Names: []string{m[1]}, Text: m[2]})
			inner = len(line) - len(m[2])
		case indent(line) >= column+2 && len(last.Values) > 0:
			last.Values[len(last.Values)-1].Text += "\n" + text
		default:
			last.Text = strings.TrimPrefix(last.Text+"\n"+text, "\n")
		}
	}
	return items
}

// textColumn returns the column at which most texts of a section begin: the lowest one.
func textColumn(lines []string) int {
	column := 0
	for _, line := range lines {
		text := parseItem(line).Text
		if at := len(line) - len(text); indent(line) == 2 && text != "" && (column == 0 || at < column) {
			column = at
		}
	}
	return column
}

func parseItem(line string) Item {
	if m := flagLine.FindStringSubmatch(line); m != nil {
		return Item{Names: strings.Split(m[1], ", "), Value: m[2], Text: m[3] + m[4]}
	}
	name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
	return Item{Names: []string{name}, Text: strings.TrimSpace(text)}
}

// Flags returns the flags of all sections, each once.
func (h Help) Flags() []Item {
	var flags []Item
	for _, s := range h.Sections {
		for _, item := range s.Items {
			known := slices.ContainsFunc(flags, func(f Item) bool { return f.Names[0] == item.Names[0] })
			if !known && strings.HasPrefix(item.Names[0], "-") {
				flags = append(flags, item)
			}
		}
	}
	return flags
}

var remark = regexp.MustCompile(` ?\([^)]*\)`)

// summary returns the first part of the text of a flag, on one line and without remarks in
// parentheses.
func (i Item) summary() string {
	text := remark.ReplaceAllString(strings.Join(strings.Fields(i.Text), " "), "")
	for _, end := range []string{"; ", ". ", ": "} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimRight(text, ".:")
}

// A Kind is the completion of a value or an argument.
type Kind int

// The kinds of values.
const (
	NoWords  Kind = iota // anything, and nothing is proposed
	Files                // placeholder FILE or PATH
	Folders              // placeholder DIR
	Commands             // placeholder COMMAND: a command of the program
	Words                // placeholder WORD|WORD: one of these words
)

var closedSet = regexp.MustCompile(`^[a-z]{2,}(\|[a-z]+)*$`)

// KindOf returns the kind of a placeholder, and the words of a closed set.
func KindOf(placeholder string) (Kind, []string) {
	switch placeholder = strings.TrimSuffix(placeholder, "..."); {
	case placeholder == "FILE" || placeholder == "PATH":
		return Files, nil
	case placeholder == "DIR":
		return Folders, nil
	case placeholder == "COMMAND":
		return Commands, nil
	case closedSet.MatchString(placeholder):
		return Words, strings.Split(placeholder, "|")
	}
	return NoWords, nil
}
