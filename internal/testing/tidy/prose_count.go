package tidy

import (
	"regexp"
	"slices"
	"strings"
)

// counts are the figures of some prose.
type counts struct {
	words     int
	who       int // the pronouns of the list whoWords
	pronouns  int // the same, the pronoun of things, and "one" after a determiner
	verbs     int // everyday verbs in the place of standard ones
	process   int // "the process": reported, without a goal
	latter    int // "the latter", "the former": the same
	sentences int
	openers   int // sentences that begin with a word of whoWords
	long      int // sentences above longSentence words
	lines     int // of comments, or of a page
	wide      int // of these, wider than the bound

	paragraphs, bullets, cells int // of a page, above their bounds

	lengths []int // of the sentences of running text, in words

	last map[string]string // by measure: a place that was counted last
}

// longSentence is the length in words above which a sentence is reported.
const longSentence = 35

var (
	wordPattern = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	// sentenceEnd is the end of a sentence and the first letter of the next. A paragraph ends
	// one, too.
	sentenceEnd   = regexp.MustCompile("[.!?][\\s\"')*]+[A-Z`*\\[(\"']|\n\n+")
	abbreviations = regexp.MustCompile(`\b(e\.g|i\.e|etc|cf|vs|al|Fig|Sec)\.`)
)

var (
	whoWords   = set("who", "whom", "whose", "whoever", "whomever", "what", "whatever")
	everyday   = set("look", "looks", "looked", "looking", "say", "says", "said", "saying", "tell", "tells", "told", "telling", "hear", "hears", "heard", "hearing", "want", "wants", "wanted", "wanting", "goes", "going", "gone", "went")
	determiner = set("that", "this", "another", "other", "each", "which", "no", "the")
	goCommands = set("test", "run", "build", "vet", "doc", "install", "list", "generate", "mod", "command", "env", "tool", "get", "work", "version")
)

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// countText adds a text at a place: paragraphs that are divided by blank lines. The lengths of
// sentences count if running is true; those of table cells do not.
func (c *counts) countText(at, text string, running bool) {
	for _, s := range sentences(text) {
		words := wordPattern.FindAllString(s, -1)
		c.countWords(at, words)
		if len(words) == 0 {
			continue
		}
		c.sentences++
		if first := strings.ToLower(words[0]); first != "whose" && whoWords[first] {
			c.openers++
			c.note("openers", at)
		}
		if running && len(words) >= 3 {
			c.lengths = append(c.lengths, len(words))
			if len(words) > longSentence {
				c.long++
			}
		}
	}
}

func (c *counts) countWords(at string, words []string) {
	c.words += len(words)
	before := ""
	for i, raw := range words {
		w := strings.ToLower(raw)
		switch {
		case whoWords[w]:
			c.who++
			c.pronouns++
			c.note("who", at)
			c.note("pronouns", at)
		case w == "it", w == "one" && determiner[before]:
			c.pronouns++
			c.note("pronouns", at)
		case everyday[w], raw == "go" && (i+1 == len(words) || !goCommands[words[i+1]]):
			c.verbs++
			c.note("verbs", at)
		case w == "process" && before == "the":
			c.process++
		case (w == "latter" || w == "former") && before == "the":
			c.latter++
		}
		before = w
	}
}

func (c *counts) note(measure, at string) {
	if c.last == nil {
		c.last = map[string]string{}
	}
	c.last[measure] = at
}

// sentences divides a text. An abbreviation does not end a sentence.
func sentences(text string) []string {
	text = abbreviations.ReplaceAllString(text, "$1")
	var found []string
	for {
		m := sentenceEnd.FindStringIndex(text)
		if m == nil {
			return append(found, text)
		}
		end := m[0] + 1
		found = append(found, text[:end])
		text = text[end:]
	}
}

func (c *counts) mean() float64 {
	sum := 0
	for _, n := range c.lengths {
		sum += n
	}
	return float64(sum) / float64(max(len(c.lengths), 1))
}

func (c *counts) percentile(p int) float64 {
	if len(c.lengths) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.lengths))
	return float64(sorted[len(sorted)*p/100])
}

// add sums the counts of units, for the last line of a table.
func (c *counts) add(o *counts) {
	c.words += o.words
	c.who += o.who
	c.pronouns += o.pronouns
	c.verbs += o.verbs
	c.process += o.process
	c.latter += o.latter
	c.sentences += o.sentences
	c.openers += o.openers
	c.long += o.long
	c.lines += o.lines
	c.wide += o.wide
	c.paragraphs += o.paragraphs
	c.bullets += o.bullets
	c.cells += o.cells
	c.lengths = append(c.lengths, o.lengths...)
}
