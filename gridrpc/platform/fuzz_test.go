package platform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzParseTree: any text is refused, or is a platform within the bounds of a machine.
func FuzzParseTree(f *testing.F) {
	for _, text := range []string{"2x4", "4", "1x1x1x1", "0x1", "2x", "x", "4097", "99999999999999999999x1", "4000x4000x4000x4000x4000x4000x4000", "3x16,4x12", "2,", "4095,4095"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sites, err := parseSites(text)
		if err != nil {
			assert.ErrorContains(t, err, "Tree is")
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
