package gridrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzParseOrder: any line is refused, or is the order that it says.
func FuzzParseOrder(f *testing.F) {
	for _, line := range []string{"notify\n", "register a/b\n", "restart go on\n", "notify now\n", "", "register \n"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, err := parseOrder(line)
		switch {
		case err != nil:
		case o.register:
			assert.True(t, strings.HasSuffix(line, " "+o.path+"\n"))
			assert.NotContains(t, o.path, "\n")
		default:
			assert.Equal(t, "notify\n", line)
		}
	})
}
