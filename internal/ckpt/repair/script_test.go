package repair

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/commitinterval"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt: commands to one process, with its actions below. The scripts
// are examples.
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		var stage scriptStage
		return func(c golden.Command, out io.Writer) { io.WriteString(out, stage.run(t, c)) }
	})
}

// A scriptStage is one process.
type scriptStage struct {
	world    *World
	handover []byte // of the last Replace
	size     int    // of the last Replace
	cfg      Config
}

func (s *scriptStage) run(t *testing.T, c golden.Command) string {
	t.Helper()
	words := c.Words
	opts := options(words[1:])
	switch words[0] {
	case "world":
		s.start(t, opts)
		return ""
	case "replacement":
		w, err := Adopt(s.cfg, s.size, atoi(t, opts["rank"]), s.handover)
		require.NoError(t, err)
		s.world = w
		return ""
	}
	ev := parseEvent(t, words, opts)
	var out strings.Builder
	for _, a := range s.world.Step(ev) {
		if r, is := a.(Replace); is {
			s.handover, s.size = r.Handover, r.Size
		}
		out.WriteString(describe(a) + "\n")
	}
	if out.Len() == 0 {
		return "nothing\n"
	}
	return out.String()
}

func (s *scriptStage) start(t *testing.T, opts map[string]string) {
	s.cfg = Config{Verify: opts["verify"] != "", Must: opts["must"] != "", Files: opts["files"] != "", Tries: atoi(t, opts["tries"])}
	switch opts["short"] {
	case "shrink":
		s.cfg.Shortage = ShortageShrink
	case "wait":
		s.cfg.Shortage, s.cfg.Wait = ShortageWait, 1000
	}
	if k := atoi(t, opts["copies"]); k > 0 {
		s.cfg.Layout = func(nodes []int) redundancy.Layout { return redundancy.Partners(nodes, k) }
	}
	s.world = New(s.cfg, atoi(t, opts["size"]), atoi(t, opts["rank"]))
}

func parseEvent(t *testing.T, words []string, opts map[string]string) Event {
	t.Helper()
	switch words[0] {
	case "begin":
		return Begin{}
	case "protect":
		return Protect{}
	case "gathered":
		return Gathered{Reports: parseReports(t, words[1:])}
	case "restored":
		return Restored{OK: opts["failed"] == ""}
	case "commit":
		return Commit{Now: opts["now"] != "", Stop: opts["stop"] != "", Want: atoi(t, opts["want"])}
	case "copied":
		return Copied{Complete: opts["incomplete"] == "", Offer: opts["offer"] != "", Files: parseFiles(opts["files"])}
	case "decided":
		return parseDecided(t, words[1:], opts)
	case "revoked":
		return Revoked{}
	case "returned":
		return Returned{Result: parseResult(words[1])}
	case "quiet":
		return Quiet{Result: parseResult(words[1]), Text: opts["text"]}
	case "shrunk":
		return Shrunk{Left: parseSet(t, words[1])}
	case "filled":
		return Filled{}
	case "unfilled":
		return Unfilled{}
	case "scarce":
		return Scarce{Granted: atoi(t, words[1])}
	case "told":
		return Told{Rank: atoi(t, opts["rank"]), Text: opts["text"]}
	}
	t.Fatalf("unknown command %q", words[0])
	return nil
}

// parseReports reads one word for each rank, node:home:label{parts}/label{parts}.
func parseReports(t *testing.T, words []string) []Report {
	if words[0] == "failed" {
		return nil
	}
	var reports []Report
	var nodes []int
	var committed Label
	for _, word := range words {
		if text, is := strings.CutPrefix(word, "committed="); is {
			committed = parseLabel(t, text)
			continue
		}
		part := strings.SplitN(word, ":", 3)
		r := Report{Node: atoi(t, part[0]), Home: atoi(t, part[1]), Committed: committed}
		nodes = append(nodes, r.Node)
		for held := range strings.SplitSeq(part[2], "/") {
			if held != "" {
				label, set, _ := strings.Cut(held, "{")
				r.Held = append(r.Held, Held{Label: parseLabel(t, label), Data: parseSet(t, "{"+set)})
			}
		}
		reports = append(reports, r)
	}
	for _, r := range reports {
		for i := range r.Held {
			r.Held[i].Nodes = nodes
		}
	}
	return reports
}

// parseDecided reads the call of each member: commit, seal, leave, finish, with "!" for an
// incomplete version or a fatal error, "*" for a stop, ":" and a word about files; and dead={...}.
func parseDecided(t *testing.T, words []string, opts map[string]string) Event {
	d := Decided{Word: ^uint64(0), Dead: parseSet(t, "{"+strings.Trim(opts["dead"], "{}")+"}")}
	for _, word := range words {
		if strings.Contains(word, "=") {
			continue
		}
		b := Ballot{Stop: strings.HasSuffix(word, "*"), Want: atoi(t, opts["want"])}
		bad := strings.HasSuffix(word, "!")
		word, files, _ := strings.Cut(strings.TrimRight(word, "!*"), ":")
		switch word {
		case "commit":
			b.Call, b.Incomplete, b.Files = CallCommit, bad, parseFiles(files)
		case "seal":
			b.Call, b.Incomplete = CallSeal, bad
		case "leave":
			b.Call, b.Fatal = CallLeave, bad
		case "finish":
			b.Call = CallFinish
		default:
			t.Fatalf("unknown ballot %q", word)
		}
		d.Word &= b.Word()
	}
	return d
}

func parseFiles(word string) Files {
	return map[string]Files{"": FilesDone, "writing": FilesWriting, "failed": FilesFailed, "wanted": FilesWanted}[word]
}

func parseResult(word string) Result {
	return map[string]Result{"finished": Finished, "again": Again, "fatal": Fatal}[word]
}

func parseLabel(t *testing.T, text string) Label {
	var l Label
	_, err := fmt.Sscanf(text, "%d.%d", &l.Epoch, &l.Number)
	require.NoError(t, err, text)
	return l
}

func parseSet(t *testing.T, text string) rankset.Set {
	s, err := rankset.Parse(text)
	require.NoError(t, err)
	return s
}

func atoi(t *testing.T, text string) int {
	if text == "" {
		return 0
	}
	n := 0
	_, err := fmt.Sscanf(text, "%d", &n)
	require.NoError(t, err, text)
	return n
}

// options returns key=value words; a word without "=" has the value "yes".
func options(words []string) map[string]string {
	m := map[string]string{}
	for _, w := range words {
		key, value, has := strings.Cut(w, "=")
		if !has {
			value = "yes"
		}
		m[key] = value
	}
	return m
}

func describe(a Action) string {
	switch a := a.(type) {
	case Run:
		return fmt.Sprintf("run attempt %d: rank %d of %d, home %d, lost %v", a.Attempt, a.Rank, a.Size, a.Home, a.Lost)
	case Gather:
		return fmt.Sprintf("gather, epoch %d, committed %v%s", a.Epoch, a.Committed, flagged(!a.Known, " or what memory says"))
	case Restore:
		return describePlan(a.Plan)
	case Copy:
		return fmt.Sprintf("copy %v%s%s", a.Label, flagged(a.Check, ", check"), flagged(a.All, ", all levels"))
	case Agree:
		return "agree:" + describeWord(a.Word)
	case Return:
		files := []string{"", "; begin its files", "; publish the files", "; abandon the files"}[a.Files]
		return fmt.Sprintf("return %s, version %v%s", verdictName(a.Verdict), a.Label, files)
	case Keep:
		return fmt.Sprintf("keep %v and newer", a.Oldest)
	case Settle:
		return fmt.Sprintf("settle %v", a.Label)
	case Drop:
		return fmt.Sprintf("drop %v", a.Label)
	case Replace:
		return fmt.Sprintf("replace: replacements get %v of %d%s", a.Ranks, a.Size, flagged(a.Wait > 0, ", wait"))
	case Tell:
		return fmt.Sprintf("tell %q", a.Text)
	case End:
		return fmt.Sprintf("end: %v%s", a.Outcome.End, flagged(a.Outcome.End == Peer, fmt.Sprintf(", rank %d: %s", a.Outcome.Rank, a.Outcome.Text)))
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", a), "repair."))
}

func describePlan(p Plan) string {
	from := []string{"memory", "files", "initial values", "nothing whole", "different"}[p.Source]
	out := fmt.Sprintf("restore %v from %s, epoch %d", p.Label, from, p.Epoch)
	for _, s := range p.Steps {
		out += fmt.Sprintf("; %+v", s)
	}
	for _, s := range p.Copies {
		out += fmt.Sprintf("; copy %+v", s)
	}
	return out
}

func describeWord(word uint64) string {
	t := Read(word)
	out := flagged(t.AllStay, " stay") + flagged(!t.AllStay && !t.Finished, " leave") + flagged(t.Finished, " finished") +
		flagged(!t.Complete, " incomplete") + flagged(t.Fatal, " fatal") + flagged(t.Stop, " stop") + flagged(t.Offer, " offer")
	if t.Interval != commitinterval.Longest {
		out += fmt.Sprintf(" want %d", t.Interval)
	}
	return out
}

func verdictName(v Verdict) string {
	return []string{"ok", "over: again", "over: stop", "bad replica", "bad members", "nothing whole", "bad place", "bad files"}[v]
}

func flagged(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
