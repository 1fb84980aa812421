package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typedFlag is a declaration of a flag of a number or a duration.
var typedFlag = regexp.MustCompile(`\b\w+\.(Int|Int64|Uint64|Float64|Duration)(?:Var\([^"]*|\()"([\w-]+)"`)

// typedFlags returns the names of all flags of numbers and durations of this command, with their
// types.
func typedFlags(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	types := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range typedFlag.FindAllStringSubmatch(string(text), -1) {
			types[m[2]] = m[1]
		}
	}
	return types
}

// TestEveryFlagNamesItsForm: each command explains a value that none of its flags of numbers and
// durations takes, and each of these flags belongs to a command.
func TestEveryFlagNamesItsForm(t *testing.T) {
	forms := map[string]string{"Int": "a whole number", "Int64": "a whole number", "Uint64": "a whole number of at least 0", "Float64": "a number", "Duration": "a duration such as 5s"}
	commands := []string{"run", "daemon --", "doctor", "sim"}
	types := typedFlags(t)
	assert.Greater(t, len(types), 25, "%v", types)
	for name, kind := range types {
		dashed := "--" + name
		if len(name) == 1 {
			dashed = "-" + name
		}
		known := slices.DeleteFunc(slices.Clone(commands), func(command string) bool {
			got := goulfmCommand(t, "", append(strings.Fields(command), "--"+name, "5x")...)
			first, _, _ := strings.Cut(got.err, "\n")
			word, _, _ := strings.Cut(command, " ")
			lacks := first == "goulfm "+word+": "+dashed+": no such flag"
			if !lacks {
				assert.Equal(t, "goulfm "+word+": "+dashed+" 5x: want "+forms[kind], first)
			}
			assert.Equal(t, 2, got.code, "%s %s", command, dashed)
			return lacks
		})
		assert.NotEmpty(t, known, "no command has %s", dashed)
	}
}
