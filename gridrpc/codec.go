package gridrpc

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Codec is how arguments and results become bytes.
type Codec string

// The codecs. Every server speaks both; strangers in other languages use JSON. Gob has []byte,
// string and []float64 go as they are.
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
		if data := plainly(v); data != nil {
			return data, fits(data, nil)
		}
		var b bytes.Buffer
		b.WriteByte(byGob)
		err := gob.NewEncoder(&b).Encode(v)
		return b.Bytes(), fits(b.Bytes(), err)
	}
	return nil, fmt.Errorf("%w: codec %q, want %q or %q", ErrCodec, c, Gob, JSON)
}

// What the first byte of a value in the codec Gob says of those that follow. A gob tells all types
// each time: most of what a small call has cost, and of what a large one has copied.
const (
	byGob  byte = iota // a gob
	raw                // a []byte
	text               // a string
	floats             // a []float64, each as 8 bytes, little endian
)

// plainly returns a value that goes without gob, or nil.
func plainly(v any) []byte {
	switch v := v.(type) {
	case *[]byte:
		return append(append(make([]byte, 0, 1+len(*v)), raw), *v...)
	case *string:
		return append(append(make([]byte, 0, 1+len(*v)), text), *v...)
	case *[]float64:
		data := append(make([]byte, 0, 1+8*len(*v)), floats)
		for _, x := range *v {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
		}
		return data
	}
	return nil
}

// decodeGob reads what encode wrote in the codec Gob. A plain value goes into a variable of its
// type, or of any that gob takes it into; a []byte is a part of data.
func decodeGob(data []byte, v any) error {
	if len(data) == 0 {
		return errors.New("no value")
	}
	kind, data := data[0], data[1:]
	switch kind {
	case byGob:
		return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
	case raw:
		if to, ok := v.(*[]byte); ok {
			*to = data
			return nil
		}
		return throughGob(data, v)
	case text:
		if to, ok := v.(*string); ok {
			*to = string(data)
			return nil
		}
		return throughGob(string(data), v)
	case floats:
		if len(data)%8 != 0 {
			return fmt.Errorf("%d bytes are no numbers of 8", len(data))
		}
		list := make([]float64, len(data)/8)
		for i := range list {
			list[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		if to, ok := v.(*[]float64); ok {
			*to = list
			return nil
		}
		return throughGob(list, v)
	}
	return fmt.Errorf("a value of kind %d, which is not known", kind)
}

// throughGob sets *v to a value of a type that gob takes for its own: a named one, or an interface.
func throughGob(value, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return err
	}
	return gob.NewDecoder(&b).Decode(v)
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

// decode reads a value that encode wrote. The value may have data as its memory. JSON with an
// unknown field is refused: it is a misspelt one.
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
		err = decodeGob(data, v)
	default:
		err = fmt.Errorf("codec %q, want %q or %q", c, Gob, JSON)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", ErrCodec, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
