// Package codec turns the arguments and results of calls into bytes, for clients and servers.
package codec

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

// Names of the codecs.
const (
	Gob  = "gob"
	JSON = "json"
)

// Max is the largest size of an argument or a result, in bytes.
const Max = 1 << 30

// Errors of Encode and Decode.
var (
	ErrCodec    = errors.New("argument or result does not fit")
	ErrTooLarge = errors.New("too large")
)

// Encode returns the bytes of a value in a codec.
func Encode(c string, v any) ([]byte, error) {
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
	return nil, fmt.Errorf("%w: codec %q: the codecs are %q and %q", ErrCodec, c, Gob, JSON)
}

// Values of the first byte in the codec Gob: the kind of the other bytes. A gob describes all
// types each time, which was most of the cost of a small call, and most of the copies of a large
// call.
const (
	byGob  byte = iota // a gob
	raw                // a []byte
	text               // a string
	floats             // a []float64, each as 8 bytes, little endian
)

// plainly returns the bytes of a value that needs no gob, or nil.
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

// decodeGob reads a value that Encode wrote in the codec Gob. A plain value is read
// into a variable of its type, or of any type that gob can read the value into. A []byte is a part
// of data.
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

// throughGob sets *v by gob to a value of another type: a named type, or an interface.
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
	case len(data) > Max:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), Max)
	}
	return nil
}

// Decode reads a value that Encode wrote. The value may refer to data. JSON with an
// unknown field is refused, because the field is misspelt.
func Decode(c string, data []byte, v any) error {
	var err error
	switch c {
	case JSON:
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(v)
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			err = fmt.Errorf("field %q: a %s does not fit into %s", typed.Field, typed.Value, typed.Type)
		}
		if err == nil && d.More() {
			err = errors.New("more than one value")
		}
	case Gob:
		err = decodeGob(data, v)
	default:
		err = fmt.Errorf("codec %q: the codecs are %q and %q", c, Gob, JSON)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", ErrCodec, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
