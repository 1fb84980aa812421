// Package fileformat reads the number of the format of a file of JSON, which is its field Format.
// Files of format 1 have no such field: the first builds wrote none.
package fileformat

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrLater is wrapped by the error of a file of a later format than the reader knows.
var ErrLater = errors.New("a later format")

// Check returns an error if data is a JSON object of a later format than known. A reader calls Check
// after it has failed to decode a file, and reports other faults itself.
func Check(data []byte, known int) error {
	var f struct{ Format int }
	if json.Unmarshal(data, &f) != nil || f.Format <= known {
		return nil
	}
	return fmt.Errorf("%w: format %d, and this build reads formats up to %d: use the build that wrote it, or a later gridrpc", ErrLater, f.Format, known)
}
