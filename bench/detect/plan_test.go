package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	p, err := parse(strings.Fields("-figure D1,D5 -n 2,64 -runs 7 -seconds 3 -out x -table y -limit 5s -busy"))
	require.NoError(t, err)
	assert.Equal(t, plan{figures: []string{"D1", "D5"}, nodes: []int{2, 64}, runs: 7, seconds: 3, busy: true, out: "x", table: "y", limit: 5 * time.Second}, p)
	assert.Equal(t, 7, p.runsOr(20, 2))
	assert.Equal(t, []int{2, 64}, p.sizes(sizesOf(8), sizesOf(4)))
	assert.Equal(t, 3*time.Second, p.look())

	p, err = parse([]string{"-figure", "all"})
	require.NoError(t, err)
	assert.Equal(t, ids, p.figures)
	assert.Equal(t, 20, p.runsOr(20, 2))
	assert.Equal(t, sizesOf(8), p.sizes(sizesOf(8), sizesOf(4)))
	assert.Equal(t, time.Minute, p.look())

	p, err = parse([]string{"-figure", "D8", "-quick"})
	require.NoError(t, err)
	assert.Equal(t, 2, p.runsOr(20, 2))
	assert.Equal(t, sizesOf(4), p.sizes(sizesOf(8), sizesOf(4)))
	assert.Equal(t, 2*time.Second, p.look())
}

func sizesOf(n int) []int { return []int{n} }

func TestParseRefuses(t *testing.T) {
	for args, says := range map[string]string{
		"":                      "want some of D1",
		"-figure D9":            "want some of D1",
		"-figure D1,":           "want some of D1",
		"-figure D1 -n 1":       "at least 2",
		"-figure D1 -n 2,x":     "not a number",
		"-figure D1 -n 2,65":    "at most 64",
		"-figure D1 -runs -1":   "from 0 up",
		"-figure D5 -seconds -": "invalid value",
		"-figure D1 -limit 0s":  "above 0",
		"-figure D1 more":       "no other argument",
		"-frob":                 "not defined",
	} {
		_, err := parse(strings.Fields(args))
		assert.ErrorContains(t, err, says, args)
	}
}
