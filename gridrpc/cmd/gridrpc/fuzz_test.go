package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzParseTree: any text is refused, or is a platform that one machine can have.
func FuzzParseTree(f *testing.F) {
	for _, text := range []string{"2x4", "4", "1x1x1x1", "0x1", "2x", "x", "4097", "99999999999999999999x1", "4000x4000x4000x4000x4000x4000x4000", "3x16,4x12", "2,", "4095,4095"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sites, err := parseSites(text)
		if err != nil {
			assert.ErrorContains(t, err, "--tree")
			return
		}
		if len(sites) > 1 {
			all := 0
			for _, levels := range sites {
				assert.Equal(t, 1, levels[0])
				all += processesOf(levels)
			}
			assert.LessOrEqual(t, all, processesMax)
			return
		}
		levels := sites[0]
		assert.Len(t, levels, strings.Count(text, "x")+1)
		all, width := 0, 1
		for _, n := range levels {
			width *= n
			all += width
			assert.Positive(t, n)
			assert.LessOrEqual(t, all, processesMax)
		}
	})
}

// FuzzArgument: any argument of "call" that is no file is refused, or is JSON.
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

// FuzzParseProgram: any text is refused, or is a service and the words of a command.
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
