package gridrpc

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Codec is how arguments and results become bytes.
type Codec string

// The codecs. Every server speaks both; strangers in other languages use JSON.
const (
	Gob  Codec = "gob"
	JSON Codec = "json"
)

// argumentMax is how many bytes an argument or a result may have.
const argumentMax = 1 << 30

func encode(c Codec, v any) ([]byte, error) {
	switch c {
	case JSON:
		data, err := json.Marshal(v)
		return data, fits(data, err)
	case Gob:
		var b bytes.Buffer
		err := gob.NewEncoder(&b).Encode(v)
		return b.Bytes(), fits(b.Bytes(), err)
	}
	return nil, fmt.Errorf("%w: codec %q, want %q or %q", ErrCodec, c, Gob, JSON)
}

func fits(data []byte, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCodec, err)
	case len(data) > argumentMax:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), argumentMax)
	}
	return nil
}

// decode reads a value that encode wrote. JSON with an unknown field is refused: it is a
// misspelt one.
func decode(c Codec, data []byte, v any) error {
	var err error
	switch c {
	case JSON:
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(v)
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			err = fmt.Errorf("field %q: got a %s, want %s", typed.Field, typed.Value, typed.Type)
		}
		if err == nil && d.More() {
			err = errors.New("more than one value")
		}
	case Gob:
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(v)
	default:
		err = fmt.Errorf("codec %q, want %q or %q", c, Gob, JSON)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", ErrCodec, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
