package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// sample has fields of the usual types of arguments.
type sample struct {
	Whole int
	Text  string
	Raw   []byte
	Named map[string]int64
	Below *sample
}

// FuzzDecode: any bytes are refused as ErrCodec, or are a value that can be sent on.
func FuzzDecode(f *testing.F) {
	for _, c := range []string{Gob, JSON} {
		data, err := Encode(c, &sample{Whole: 1, Text: "x", Raw: []byte{1}, Named: map[string]int64{"a": 1}, Below: &sample{}})
		assert.NoError(f, err)
		f.Add(data, c == JSON)
	}
	f.Add([]byte(`{"Whole":"one"}`), true)
	f.Add([]byte(`{"Wole":1}`), true)
	f.Add([]byte(`{} {}`), true)
	f.Fuzz(func(t *testing.T, data []byte, isJSON bool) {
		c := Gob
		if isJSON {
			c = JSON
		}
		var first, second sample
		if err := Decode(c, data, &first); err != nil {
			assert.ErrorIs(t, err, ErrCodec)
			return
		}
		again, err := Encode(c, &first)
		assert.NoError(t, err)
		assert.NoError(t, Decode(c, again, &second))
		third, err := Encode(c, &second)
		assert.NoError(t, err)
		assert.Len(t, third, len(again))
	})
}
