package clihelp

import (
	"fmt"
	"slices"
	"strings"
)

// A page is a man page that is being written, in the macros of man(7).
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// roff escapes text: a hyphen would be printed as a typographic one, a backslash begins an escape,
// and a dot or an apostrophe at the start of a line begins a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimLeft(line, " ")
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// argument escapes text for one argument of a macro.
func argument(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }

func bold(text string) string { return `\fB` + strings.TrimPrefix(roff(text), `\&`) + `\fR` }

func (p *page) begin(name, version, short string) {
	p.line(`.\" Printed by goulfm man.`)
	p.line(`.TH %s 1 "" %s`, argument(strings.ToUpper(name)), argument(version))
	p.line(".SH NAME\n%s \\- %s", roff(name), roff(short))
}

// paragraphs prints the paragraphs of a section, from its first one on.
func (p *page) paragraphs(texts []string) {
	for i, text := range texts {
		if i > 0 {
			p.line(".PP")
		}
		p.line("%s", roff(text))
	}
}

// examples prints command lines as they are typed, each below its remark.
func (p *page) examples(all []Example) {
	for i, e := range all {
		if i > 0 {
			p.line(".PP")
		}
		if e.Remark != "" {
			p.line("%s:", roff(e.Remark))
		}
		p.line(".RS 4\n.nf\n%s\n.fi\n.RE", roff(e.Line))
	}
}

func (p *page) item(i Item) {
	var names []string
	for _, name := range i.Names {
		names = append(names, bold(name))
	}
	head := strings.Join(names, ", ")
	if i.Value != "" {
		head += ` \fI` + roff(i.Value) + `\fR`
	}
	p.line(".TP\n%s\n%s", head, roff(i.Text))
	if len(i.Values) == 0 {
		return
	}
	p.line(".RS")
	for _, value := range i.Values {
		p.item(value)
	}
	p.line(".RE")
}

// helpFlag is the flag that each command has.
var helpFlag = Item{Names: []string{"-h", "--help"}, Text: "print the help text"}

// Man returns the man page of a command, or of the program if the name is "".
func (p Program) Man(command string) (string, bool) {
	if command == "" {
		return p.overview(), true
	}
	i := slices.Index(p.names(), command)
	if i < 0 {
		return "", false
	}
	c, out := p.Commands[i], &page{}
	out.begin(p.Name+"-"+c.Name, p.Version, c.Short)
	out.line(".SH SYNOPSIS\n.nf")
	for _, usage := range c.Help.Usage {
		rest := strings.TrimPrefix(usage.Line, p.Name+" "+c.Name)
		out.line("%s %s", bold(p.Name+" "+c.Name), roff(strings.TrimSpace(rest)))
	}
	out.line(".fi\n.SH DESCRIPTION")
	out.paragraphs(c.Help.Description)
	for _, usage := range c.Help.Usage {
		if usage.Remark != "" {
			out.line(".TP\n%s\n%s", bold(usage.Line), roff(usage.Remark))
		}
	}
	out.line(".SH OPTIONS")
	for _, s := range c.Help.Sections {
		out.line(".SS %s", argument(s.Title))
		for _, item := range s.Items {
			out.item(item)
		}
	}
	out.line(".SS \"Help\"")
	out.item(helpFlag)
	out.notes(c.Help.Notes)
	out.line(".SH EXAMPLES")
	out.examples(c.Help.Examples)
	out.line(".SH SEE ALSO\n.BR %s (1)", roff(p.Name))
	return out.String(), true
}

// headings are the sections of a man page for titles of paragraphs.
var headings = map[string]string{"Exit code": "EXIT STATUS", "Environment": "ENVIRONMENT", "Signals": "SIGNALS"}

// notes prints the paragraphs after the flags; those without a title come first.
func (p *page) notes(texts []string) {
	var plain []string
	for _, text := range texts {
		if !titled.MatchString(text) {
			plain = append(plain, text)
		}
	}
	if len(plain) > 0 {
		p.line(".SH NOTES")
		p.paragraphs(plain)
	}
	for _, text := range texts {
		if m := titled.FindStringSubmatch(text); m != nil {
			p.line(".SH %s\n%s", headings[m[1]], roff(strings.TrimPrefix(text, m[0])))
		}
	}
}

// overview is the page of the program.
func (p Program) overview() string {
	out := &page{}
	out.begin(p.Name, p.Version, p.Short)
	out.line(".SH SYNOPSIS\n%s \\fICOMMAND\\fR [flags] [arguments]", bold(p.Name))
	out.line(".SH DESCRIPTION\nEach command has a page of its own.")
	for _, c := range p.Commands {
		out.line(".TP\n%s\n%s", bold(p.Name+" "+c.Synopsis), roff(c.Short))
	}
	out.line(".SH OPTIONS")
	out.item(helpFlag)
	out.line(".SH EXAMPLES")
	out.examples(p.Examples)
	out.line(".SH SEE ALSO")
	for i, c := range p.Commands {
		end := ","
		if i == len(p.Commands)-1 {
			end = ""
		}
		out.line(".BR %s (1)%s", roff(p.Name+"-"+c.Name), end)
	}
	return out.String()
}
