package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzCallID: a text is either refused, or names a call.
func FuzzCallID(f *testing.F) {
	for _, text := range []string{"", "0", CallID{1, 2}.Text(), "zz", CallID{}.Text() + "00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseCallID(text); err == nil {
			assert.Equal(t, strings.ToLower(text), id.Text())
		}
	})
}
