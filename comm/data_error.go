package comm

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// Data describes the data that one side passes to a message or a collective.
type Data struct {
	Type  string // of the elements, such as "float64"; "a value" of SendValue
	Count int    // elements; -1: not known, for example of records that this process does not have
}

// String returns "3 float64".
func (d Data) String() string {
	if d.Count < 0 || d.Type == "a value" {
		return d.Type
	}
	return fmt.Sprintf("%d %s", d.Count, d.Type)
}

// A DataError describes how the data of two sides differ: types of elements, or lengths. A
// DataError Is ErrType or ErrTruncated, or, of a collective, ErrMismatch; errors.As finds the
// DataError.
type DataError struct {
	Err         error  // the class
	Here, There Data   // this process's, and the other side's
	Call        string // the collective, such as "allreduce (sum)"; empty: a message
	Rank        int    // of the other side, if a collective
}

// Error returns one line: "message longer than the buffer: 10 float64 for a buffer of 4
// float64".
func (e *DataError) Error() string {
	switch {
	case e.Call != "" && e.Here.Type != e.There.Type:
		return fmt.Sprintf("different element types: %s of %v here, of %v at rank %d", e.Call, e.Here, e.There, e.Rank)
	case e.Call != "":
		return fmt.Sprintf("different lengths: %s of %v here, of %v at rank %d", e.Call, e.Here, e.There, e.Rank)
	}
	return fmt.Sprintf("%v: %v for a buffer of %v", e.Err, e.There, e.Here)
}

// Unwrap returns the class.
func (e *DataError) Unwrap() error { return e.Err }

// dataOf describes bytes of elements of a code.
func dataOf(code uint8, bytes int) Data {
	d := Data{Type: byteview.CodeName(code), Count: -1}
	if size := byteview.ElemBytes(code); size > 0 {
		d.Count = bytes / size
	}
	return d
}

// explain makes a DataError of the engine's error of a message that does not fit.
func explain(err error) error {
	if u := (*engine.Unfit)(nil); errors.As(err, &u) {
		return &DataError{Err: u.Err, Here: dataOf(u.Wants, u.Room), There: dataOf(u.Elem, u.Size)}
	}
	return err
}
