package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseLine(t *testing.T) {
	what, words, ok := parseLine("knows 1 2 34567890123")
	assert.True(t, ok)
	assert.Equal(t, lineKnows, what)
	assert.Equal(t, []int64{1, 2, 34567890123}, words)
	for _, text := range []string{"", "knows", "knows 1 2", "knows 1 2 3 4", "known 1 2 3", "in 1 x 3", "in 1 -2 3", "in 1 2 99999999999999999999"} {
		_, _, ok := parseLine(text)
		assert.False(t, ok, text)
	}
}

// FuzzParseLine: a parsed line has the same contents when it is written again.
func FuzzParseLine(f *testing.F) {
	f.Add("in 0 12 13")
	f.Add("knows 1 2 3")
	f.Add("knows 1 2 -3")
	f.Fuzz(func(t *testing.T, text string) {
		what, words, ok := parseLine(text)
		if !ok {
			assert.Empty(t, words)
			return
		}
		again := what + strings.Trim(fmt.Sprint(words), "[]")
		again = fmt.Sprintf("%s %s", what, again[len(what):])
		what2, words2, ok := parseLine(again)
		assert.True(t, ok, again)
		assert.Equal(t, what, what2)
		assert.Equal(t, words, words2)
	})
}

func TestSocketOf(t *testing.T) {
	path, ok := socketOf(`{"event":"watch","at":0.01,"text":"goulfm watch --socket /tmp/goulfm-watch-1-2/socket shows the processes that are alive"}`)
	assert.True(t, ok)
	assert.Equal(t, "/tmp/goulfm-watch-1-2/socket", path)
	for _, line := range []string{"", "{", `{"event":"start","text":"goulfm watch --socket /x"}`, `{"event":"watch","text":"--socket "}`, `{"event":"watch"}`} {
		_, ok := socketOf(line)
		assert.False(t, ok, line)
	}
}

func TestFailedOf(t *testing.T) {
	failed, ok := failedOf(`{"event":"end","at":3.1,"ranks":[1,2],"code":0,"text":"1 of 3 ranks finished"}`)
	assert.True(t, ok)
	assert.Equal(t, 2, failed)
	failed, ok = failedOf(`{"event":"end","code":0}`)
	assert.True(t, ok)
	assert.Zero(t, failed)
	for _, line := range []string{"", "{", `{"event":"death","ranks":[1]}`, `{"event":"end","ranks":1}`} {
		_, ok := failedOf(line)
		assert.False(t, ok, line)
	}
}

// FuzzFailedOf: a line other than the end has no failed ranks.
func FuzzFailedOf(f *testing.F) {
	f.Add(`{"event":"end","ranks":[1,2]}`)
	f.Add(`{"event":"start"}`)
	f.Fuzz(func(t *testing.T, line string) {
		failed, ok := failedOf(line)
		assert.True(t, ok || failed == 0)
		assert.LessOrEqual(t, failed, len(line))
	})
}

// FuzzSocketOf: no line makes a path with a space, or an empty one.
func FuzzSocketOf(f *testing.F) {
	f.Add(`{"event":"watch","text":"goulfm watch --socket /tmp/a shows"}`)
	f.Add(`{"event":"watch","text":"--socket  x"}`)
	f.Fuzz(func(t *testing.T, line string) {
		if path, ok := socketOf(line); ok {
			assert.NotEmpty(t, path)
			assert.NotContains(t, path, " ")
		}
	})
}

func TestTail(t *testing.T) {
	var last tail
	assert.Empty(t, last.String())
	for i := range 2 * tailMax {
		last.add(fmt.Sprint(i))
	}
	assert.Len(t, last.lines, tailMax)
	assert.True(t, strings.HasSuffix(last.String(), fmt.Sprintf("\n\t%d", 2*tailMax-1)))
}
