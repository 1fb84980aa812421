package comm

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorListsItsFields: go doc shows no fields of an alias, so the comment lists those of ulfm.
func TestErrorListsItsFields(t *testing.T) {
	text, err := os.ReadFile("errors.go")
	require.NoError(t, err)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Error]()) {
		assert.Regexp(t, `(?m)^//\t`+f.Name+` +`+regexp.QuoteMeta(f.Type.String())+` `, string(text))
	}
}
