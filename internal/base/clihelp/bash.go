package clihelp

import (
	"fmt"
	"strings"
)

// bashMain finds the command, the flag whose value is typed, and the number of the argument. Bash
// splits the line at = and : as well, so the pieces without a space between them are joined first.
const bashMain = `
_PROG() {
	local line=${COMP_LINE:0:COMP_POINT} words=() piece= rest i
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]}
		rest=${line#"${line%%[![:space:]]*}"}
		((i == COMP_CWORD)) && piece=$rest
		if ((i == 0)) || [[ $rest != "$line" ]]; then words+=("$piece"); else words[-1]+=$piece; fi
		line=${rest#"$piece"}
	done
	local cur=${words[-1]} command=${words[1]} kind= flags=yes number=0 word add=
	COMPREPLY=()
	[[ $piece == [=:@] ]] && piece=
	[[ $piece == -*=* ]] && add=${piece%%=*}= piece=${piece#*=}
	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		if [[ -n $kind ]]; then
			kind=
		elif [[ $flags && $word == -- ]]; then
			flags=
		elif [[ $flags && $word == -?* ]]; then
			word=${word#-}
			[[ $word == *=* ]] || kind=$(_PROG_value "$command" "${word#-}")
		else
			flags=
			((number++))
		fi
	done
	if ((${#words[@]} == 2)); then
		kind=$(_PROG_commands)
	elif [[ -z $kind && $flags && $cur == -*=* ]]; then
		word=${cur%%=*} word=${word#-}
		kind=$(_PROG_value "$command" "${word#-}") cur=${cur#*=}
	elif [[ -z $kind && $flags && $cur == -* ]]; then
		kind='words'
		for word in $(_PROG_flags "$command"); do
			[[ $cur == --* && $word == -[!-]?* ]] && word=-$word
			kind+=" $word"
		done
	elif [[ -z $kind ]]; then
		kind=$(_PROG_argument "$command" "$number")
	fi
	case $kind in
	words\ *) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$cur") ;;
	files) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	folders) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	esac
	[[ $kind == files || $kind == folders ]] && compopt -o filenames 2>/dev/null
	rest=${cur%"$piece"}
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=$add${COMPREPLY[i]#"$rest"}
	done
}

complete -F _PROG PROG
`

// Bash returns a script for bash.
func (p Program) Bash() string {
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("# Completion of %s for bash: source <(%s completion bash)", p.Name, p.Name)
	line("\n_%s_commands() { echo %s; }", p.Name, quoted("words "+strings.Join(p.names(), " ")))
	line("\n# The flags of a command.\n_%s_flags() {\n\tcase $1 in", p.Name)
	for _, c := range p.Commands {
		line("\t%s) echo %s ;;", c.Name, quoted(strings.Join(c.flagNames(), " ")))
	}
	line("\tesac\n}\n\n# The kind of the value of a flag: a flag without a value has none.\n_%s_value() {\n\tcase \"$1 $2\" in", p.Name)
	for _, c := range p.Commands {
		for _, flag := range c.Help.Flags() {
			if flag.Value == "" {
				continue
			}
			var patterns []string
			for _, name := range flag.Names {
				patterns = append(patterns, quoted(c.Name+" "+bare(name)))
			}
			line("\t%s) echo %s ;;", strings.Join(patterns, " | "), p.bashKind(flag.Value))
		}
	}
	line("\tesac\n}\n\n# The kind of an argument of a command, by its number.\n_%s_argument() {\n\tcase \"$1 $2\" in", p.Name)
	for _, c := range p.Commands {
		for i, placeholder := range c.Arguments {
			pattern := quoted(fmt.Sprintf("%s %d", c.Name, i))
			if strings.HasSuffix(placeholder, "...") {
				pattern = quoted(c.Name+" ") + "*"
			}
			line("\t%s) echo %s ;;", pattern, p.bashKind(placeholder))
		}
	}
	line("\tesac\n}")
	b.WriteString(strings.ReplaceAll(bashMain, "PROG", p.Name))
	return b.String()
}

// flagNames returns all names of all flags, and -h.
func (c Command) flagNames() []string {
	var names []string
	for _, flag := range c.Help.Flags() {
		names = append(names, flag.Names...)
	}
	return append(names, helpFlag.Names[0])
}

func (p Program) bashKind(placeholder string) string {
	switch kind, words := p.words(placeholder); kind {
	case Words:
		return quoted("words " + strings.Join(words, " "))
	case Files:
		return "files"
	case Folders:
		return "folders"
	}
	return "nothing"
}
