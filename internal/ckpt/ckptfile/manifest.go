package ckptfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ManifestName is the name of a version's manifest in its folder.
const ManifestName = "manifest.json"

// ManifestMax bounds the length of a manifest.
const ManifestMax = 1 << 30

// Manifest combines files into a version.
type Manifest struct {
	Format int    `json:"format"`
	Job    string `json:"job"`
	Epoch  uint64 `json:"epoch"`
	Number uint64 `json:"number"`

	// Arguments is a digest of the arguments with which the job computes; "": not recorded.
	Arguments string `json:"arguments,omitempty"`

	Files []File `json:"files"` // by rank
}

// File is the entry of a manifest about the file of a rank.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	CRC   uint32 `json:"crc32c"` // of the whole file
}

// sealed is the content of the file: the manifest, and the checksum of its text.
type sealed struct {
	Manifest json.RawMessage `json:"manifest"`
	CRC      uint32          `json:"crc32c"`
}

// Encode returns the bytes of the manifest. Builds that know format 1 alone read a manifest without
// Arguments, and refuse one with Arguments by its format.
func (m Manifest) Encode() ([]byte, error) {
	m.Format = 1
	if m.Arguments != "" {
		m.Format = ListFormat
	}
	return m.encode()
}

func (m Manifest) encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(sealed{text, CRC(text)})
	return append(b, '\n'), err
}

// DecodeManifest decodes the output of Encode, and nothing else: not one byte may be different.
func DecodeManifest(b []byte) (Manifest, error) {
	var s sealed
	var m Manifest
	if err := json.Unmarshal(b, &s); err != nil {
		return m, fmt.Errorf("%w: a manifest: %w", ErrCorrupt, err)
	}
	if CRC(s.Manifest) != s.CRC {
		return m, fmt.Errorf("%w: a manifest", ErrCorrupt)
	}
	var known struct {
		Format int64 `json:"format"`
	}
	if err := json.Unmarshal(s.Manifest, &known); err != nil {
		return m, fmt.Errorf("%w: a manifest: %w", ErrCorrupt, err)
	}
	if err := checkFormat(known.Format, ListFormat); err != nil {
		return m, fmt.Errorf("a manifest: %w", err)
	}
	if err := json.Unmarshal(s.Manifest, &m); err != nil {
		return m, fmt.Errorf("%w: a manifest: %w", ErrCorrupt, err)
	}
	if again, err := m.encode(); err != nil || !bytes.Equal(again, b) {
		return m, fmt.Errorf("%w: a manifest", ErrCorrupt)
	}
	return m, m.check()
}

// check returns an error unless a manifest names exactly the files of ranks 0, 1, ...
func (m Manifest) check() error {
	if len(m.Files) == 0 || len(m.Files) > RanksMax {
		return fmt.Errorf("%w: a manifest of %d files", ErrCorrupt, len(m.Files))
	}
	for rank, f := range m.Files {
		if f.Name != FileName(rank) || f.Bytes < 0 {
			return fmt.Errorf("%w: a manifest: file %d is %.70q", ErrCorrupt, rank, f.Name)
		}
	}
	return nil
}

// FileName returns the name of the file of a rank.
func FileName(rank int) string { return "rank-" + strconv.Itoa(rank) + Extension }

// FolderName returns the name of the folder of a version.
func FolderName(job string, epoch, number uint64) string {
	return fmt.Sprintf("%s-%d-%d", job, epoch, number)
}

// ParseFolder splits the name of a folder. ok is false if it is not the name of a version's folder.
func ParseFolder(name string) (job string, epoch, number uint64, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) < 3 {
		return "", 0, 0, false
	}
	job = strings.Join(parts[:len(parts)-2], "-")
	epoch, errEpoch := strconv.ParseUint(parts[len(parts)-2], 10, 64)
	number, errNumber := strconv.ParseUint(parts[len(parts)-1], 10, 64)
	ok = errEpoch == nil && errNumber == nil && job != "" && FolderName(job, epoch, number) == name
	return job, epoch, number, ok
}
