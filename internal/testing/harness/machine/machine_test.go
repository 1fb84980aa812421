package machine

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProcessor(t *testing.T) {
	assert.Equal(t, "Fast (R) 9", processor("processor\t: 0\nmodel name\t: Fast (R) 9\nmodel name\t: other\n"))
	assert.Equal(t, runtime.GOARCH, processor("processor\t: 0\n"))
	assert.NotEmpty(t, Processor())
}

func TestFirstLine(t *testing.T) {
	assert.Equal(t, "one", FirstLine([]byte("\none\ntwo\n"), nil))
	assert.Equal(t, "unknown", FirstLine(nil, errors.New("none")))
}
