package jetstream

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/fileformat"
)

// recordFormat is the number of the format of records, which package fileformat explains.
const recordFormat = 1

// Sizes of messages. A piece has the largest size of a chunk of a checkpoint, so each chunk needs
// one synced write.
const (
	pieceSize = 1 << 20
	inlineMax = 8 << 10 // bytes of a file that are in its own message
)

// errMalformed is wrapped by the errors of messages that are not from this package.
var errMalformed = errors.New("jetstream: malformed file")

// record is the message of a file: a line of JSON, and the bytes if they are few.
type record struct {
	ID     string `json:"id"` // of the Put that has made it
	Size   int64  `json:"size"`
	Inline bool   `json:"inline,omitempty"`

	body []byte // Size bytes, if Inline
}

// newID names a Put that begins at a time.
func newID(at time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano()))
	b = append(b, make([]byte, 8)...)
	_, _ = rand.Read(b[8:]) // never fails
	return hex.EncodeToString(b)
}

// begun returns the time at which a Put began, or the zero time for an invalid id.
func begun(id string) time.Time {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != 16 {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b)))
}

func (r record) encode() ([]byte, error) {
	line, err := json.Marshal(r)
	return append(append(line, '\n'), r.body...), err
}

// decodeRecord is the inverse of encode.
func decodeRecord(data []byte) (r record, err error) {
	line, body, ok := bytes.Cut(data[:min(len(data), inlineMax+headMax)], []byte("\n"))
	if !ok {
		return record{}, fmt.Errorf("%w: no line", errMalformed)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return record{}, fmt.Errorf("%w: %w", errMalformed, cmp.Or(fileformat.Check(line, recordFormat), err))
	}
	id, err := hex.DecodeString(r.ID)
	switch {
	case d.More():
		err = errors.New("more than one value")
	case err != nil || len(id) != 16 || r.ID != strings.ToLower(r.ID):
		err = fmt.Errorf("id %.40q", r.ID)
	case r.Size < 0 || r.Inline && r.Size != int64(len(body)) || !r.Inline && len(body) > 0 || len(data) > len(line)+1+len(body):
		err = fmt.Errorf("%d bytes, and %d are here", r.Size, len(body))
	default:
		r.body = body
		return r, nil
	}
	return record{}, fmt.Errorf("%w: %w", errMalformed, err)
}

// headMax bounds the line of a record, in bytes.
const headMax = 200
