package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestQuote: a program of another machine receives words unchanged, with any characters.
func TestQuote(t *testing.T) {
	_, args := remote{host: "b", rsh: []string{"ssh", "-T"}}.command([]string{"A=it's $HOME"}, "/bin/x", []string{"", "a b"})
	assert.Equal(t, []string{"-T", "b", `exec env 'A=it'\''s $HOME' '/bin/x' '' 'a b'`}, args)
	program, args := remote{}.command([]string{"A=1"}, "/bin/x", []string{"y"})
	assert.Equal(t, "/bin/x", program)
	assert.Equal(t, []string{"y"}, args)
}
