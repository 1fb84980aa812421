package main

import (
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"
)

// command is a line of goulfm help.
var command = regexp.MustCompile(`(?m)^  goulfm (\S+)\s.*?  +(\S.*)$`)

// addCommands makes a page of the help of each command, and their list.
func (s *site) addCommands(help func(string) (string, error)) error {
	text, err := help("")
	if err != nil {
		return err
	}
	var list strings.Builder
	list.WriteString("<h1>Commands</h1>\n<p>Each page is the text of <code>goulfm help COMMAND</code>. <code>goulfm man COMMAND</code> prints it as a man page.</p>\n<ul>\n")
	found := command.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return fmt.Errorf("goulfm help lists no command")
	}
	for _, m := range found {
		name := path.Join("commands", m[1]+".html")
		usage, err := help(m[1])
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "<li><a href=\"%s.html\">goulfm %s</a>: %s</li>\n", m[1], m[1], template.HTMLEscapeString(m[2]))
		content := fmt.Sprintf("<h1>goulfm %s</h1>\n<pre class=\"chroma help\">%s</pre>\n", m[1], template.HTMLEscapeString(usage))
		s.pages[name] = &page{name: name, title: "goulfm " + m[1], content: template.HTML(content)}
	}
	list.WriteString("</ul>\n")
	s.pages["commands/index.html"] = &page{name: "commands/index.html", title: "Commands", content: template.HTML(list.String())}
	return nil
}

// addPackageList makes the page that lists the public packages by their first sentence.
func (s *site) addPackageList() {
	const name = "pkg/index.html"
	var list strings.Builder
	list.WriteString("<h1>Packages</h1>\n<ul>\n")
	for _, p := range s.packages {
		fmt.Fprintf(&list, "<li><a href=%q>%s</a>: %s</li>\n", relative(name, packagePage(p), ""), p, template.HTMLEscapeString(s.synopses[p]))
	}
	list.WriteString("</ul>\n")
	s.pages[name] = &page{name: name, title: "Packages", content: template.HTML(list.String())}
}
