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

func TestQuiet(t *testing.T) {
	for load, refused := range map[string]bool{"0.00": false, "1.00": false, "1.01": true, "19.26": true, "unknown": true} {
		got, err := quiet(load, false)
		assert.Equal(t, load, got)
		assert.Equal(t, refused, err != nil, load)
		_, err = quiet(load, true)
		assert.NoError(t, err, load)
	}
}
