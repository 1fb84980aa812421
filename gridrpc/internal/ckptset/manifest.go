package ckptset

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/fileformat"
)

// Format is the number of the format of manifests, which package fileformat explains.
const Format = 1

// ErrMalformed is wrapped by each error for data that is no manifest.
var ErrMalformed = errors.New("bundle: malformed manifest")

// ID names a checkpoint: Attempt and Number count from 1.
type ID struct {
	Call    string // in hexadecimal digits
	Attempt int
	Number  int
}

// Key returns the key of the manifest.
func (id ID) Key() string {
	return fmt.Sprintf("%s/%d/manifest-%d.json", id.Call, id.Attempt, id.Number)
}

// parseKey is the inverse of Key.
func parseKey(key string) (id ID, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return ID{}, false
	}
	number, isManifest := strings.CutPrefix(parts[2], "manifest-")
	id.Call = parts[0]
	id.Attempt, _ = strconv.Atoi(parts[1])
	id.Number, _ = strconv.Atoi(strings.TrimSuffix(number, ".json"))
	return id, isManifest && key == id.Key()
}

func (id ID) chunkKey(sum string) string {
	return fmt.Sprintf("%s/%d/chunk-%s", id.Call, id.Attempt, sum)
}

// Manifest lists the files and values of a checkpoint.
type Manifest struct {
	ID
	Pieces []Piece
}

// Piece is one file or value.
type Piece struct {
	Name   string // of a file: its path below the folder of the call
	Kind   Kind
	Mode   uint32 `json:",omitempty"` // permissions of a file
	Size   int64
	Chunks []string // their SHA-256, in hexadecimal digits
}

// Kind is the kind of a Piece.
type Kind string

// The kinds of a Piece.
const (
	File   Kind = "file"
	Script Kind = "script" // a file that is executed when the call continues on another server
	Value  Kind = "value"  // of the body, encoded
)

// Bounds of a manifest.
const (
	chunkSize   = 1 << 20
	piecesMax   = 1 << 16
	manifestMax = 64 << 20 // bytes
)

// Bytes returns the size of all pieces.
func (m Manifest) Bytes() (n int64) {
	for _, p := range m.Pieces {
		n += p.Size
	}
	return n
}

// Decode reads a manifest. In a valid manifest no name leads out of the folder, and each length
// fits the number of chunks.
func Decode(data []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrMalformed, cmp.Or(fileformat.Check(data, Format), err))
	}
	if id, ok := parseKey(m.Key()); !ok || id != m.ID || m.Attempt < 1 || m.Number < 1 || !isHex(m.Call) {
		return Manifest{}, fmt.Errorf("%w: of %q, attempt %d, number %d", ErrMalformed, m.Call, m.Attempt, m.Number)
	}
	if d.More() || len(m.Pieces) > piecesMax {
		return Manifest{}, fmt.Errorf("%w: %d pieces, and more", ErrMalformed, len(m.Pieces))
	}
	seen := map[string]bool{}
	for _, p := range m.Pieces {
		name := filepath.Clean(p.Name)
		if p.Kind == Value { // a value may have the name of a file
			name = "./" + name
		}
		if err := p.check(); err != nil || seen[name] {
			return Manifest{}, fmt.Errorf("%w: %w", ErrMalformed, errors.Join(err, fmt.Errorf("piece %q", p.Name)))
		}
		seen[name] = true
	}
	return m, nil
}

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && s != "" && s == strings.ToLower(s)
}

func (p Piece) check() error {
	switch {
	case p.Kind != File && p.Kind != Script && p.Kind != Value:
		return fmt.Errorf("kind %q", p.Kind)
	case !filepath.IsLocal(p.Name) || filepath.Clean(p.Name) == ".":
		return errors.New("its name leads out of the folder")
	case p.Mode > 0o777:
		return fmt.Errorf("mode %o", p.Mode)
	case p.Size < 0 || int64(len(p.Chunks)) != p.Size/chunkSize+min(1, p.Size%chunkSize):
		return fmt.Errorf("%d bytes in %d chunks", p.Size, len(p.Chunks))
	}
	for _, sum := range p.Chunks {
		if len(sum) != 64 || !isHex(sum) {
			return fmt.Errorf("chunk %q", sum)
		}
	}
	return nil
}
