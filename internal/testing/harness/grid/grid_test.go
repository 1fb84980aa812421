package grid

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFigures(t *testing.T) {
	assert.Equal(t, []string{"0.123", "9.900", "12.35", "123.5", "1235"}, []string{Figure(0.1234), Figure(9.9), Figure(12.345), Figure(123.45), Figure(1234.6)})
	assert.Equal(t, []string{"1.30", "100"}, []string{Ratio(1.304), Ratio(100.4)})
	assert.Equal(t, []string{"", "8 B", "1 KiB", "1000 B", "4 MiB"}, []string{Size(0), Size(8), Size(1024), Size(1000), Size(4 << 20)})
}

func TestAlign(t *testing.T) {
	lines := [][]string{{"row", "n"}, {"latency", "12"}}
	assert.Equal(t, "| row     |   n |\n| ------- | --: |\n| latency |  12 |\n", Align(lines))
	assert.Len(t, lines, 2, "the lines stay")
}
