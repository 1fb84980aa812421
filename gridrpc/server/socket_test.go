package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzParseOrder: any line is refused, or is parsed as the order that its words name.
func FuzzParseOrder(f *testing.F) {
	for _, line := range []string{"notify\n", "register a/b\n", "restart go on\n", "notify now\n", "", "register \n", "progress 1 2 a b\n", "progress 1 2\n", "progress NaN 2 x\n"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, err := parseOrder(line)
		switch {
		case err != nil:
		case o.register:
			assert.True(t, strings.HasSuffix(line, " "+o.path+"\n"))
			assert.NotContains(t, o.path, "\n")
		case o.progress:
			assert.True(t, strings.HasSuffix(line, " "+o.path+"\n"))
			assert.True(t, o.done >= 0 && o.total >= 0)
		default:
			assert.Equal(t, "notify\n", line)
		}
	})
}
