package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzArgument: an argument of "call" that is no file is either refused, or is JSON.
func FuzzArgument(f *testing.F) {
	for _, text := range []string{"", "3", `{"n":400}`, "{", "[1,2] 3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "-" || strings.HasPrefix(text, "@") {
			return
		}
		if data, err := argument(text); err == nil {
			assert.True(t, json.Valid(data))
		}
	})
}

// FuzzParseProgram: a text is either refused, or is a service and the words of a command.
func FuzzParseProgram(f *testing.F) {
	for _, text := range []string{"solve=./solver {dir} -x", "solve", "=x", "solve= ", "a=b=c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := parseProgram(text)
		if err != nil {
			assert.ErrorContains(t, err, "want SERVICE=PROGRAM")
			return
		}
		assert.NotEmpty(t, one.name)
		assert.NotEmpty(t, one.args)
		again, err := parseProgram(one.name + "=" + strings.Join(one.args, " "))
		assert.NoError(t, err)
		assert.Equal(t, one, again)
	})
}
