package ckptfile

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Getter reads files by their names: n bytes from off on, or with n = -1 all bytes that follow.
type Getter interface {
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error)
}

// ReadManifest reads the manifest of the version in a folder, and checks that it is of that
// version. The error wraps fs.ErrNotExist if there is none.
func ReadManifest(ctx context.Context, from Getter, folder string) (m Manifest, err error) {
	key := folder + "/" + ManifestName
	r, err := from.Get(ctx, key, 0, ManifestMax)
	if err != nil {
		return m, err
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return m, err
	}
	m, err = DecodeManifest(b)
	if err == nil && m.Folder() != folder {
		err = ErrForeign
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", key, err)
	}
	return m, nil
}

// Folder returns the name of the version's folder.
func (m Manifest) Folder() string { return FolderName(m.Job, m.Epoch, m.Number) }

// OpenFile opens the file of a rank. The head of the file must be of the manifest's version. The
// chunks are checked when they are read. Errors name the file.
func OpenFile(ctx context.Context, from Getter, m Manifest, rank int) (*Reader, error) {
	f := m.Files[rank]
	key := m.Folder() + "/" + f.Name
	r, err := NewReader(&remote{ctx: ctx, from: from, key: key}, f.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	h := r.Head()
	if h.Job != m.Job || h.Epoch != m.Epoch || h.Number != m.Number || h.Rank != rank || h.Size != len(m.Files) {
		return nil, fmt.Errorf("%s: %w: it is rank %d's of %d in %s", key, ErrForeign, h.Rank, h.Size, FolderName(h.Job, h.Epoch, h.Number))
	}
	return r, nil
}

// VerifyFile reads all bytes of the file of a rank. The file's own checksums show where it has
// changed; the checksum in the manifest shows whether it is another file.
func VerifyFile(ctx context.Context, from Getter, m Manifest, rank int) error {
	r, err := OpenFile(ctx, from, m, rank)
	if err != nil {
		return err
	}
	key := m.Folder() + "/" + m.Files[rank].Name
	if err := r.Verify(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	crc, err := checksum(ctx, from, key)
	if err == nil && crc != m.Files[rank].CRC {
		err = fmt.Errorf("%s: %w: another file than the manifest's", key, ErrCorrupt)
	}
	return err
}

func checksum(ctx context.Context, from Getter, key string) (crc uint32, err error) {
	r, err := from.Get(ctx, key, 0, -1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum := NewCRC()
	_, err = io.Copy(sum, r)
	return sum.Sum32(), err
}

// remote is a file of a Getter, for a Reader.
type remote struct {
	ctx  context.Context
	from Getter
	key  string
}

func (f *remote) ReadAt(p []byte, off int64) (n int, err error) {
	r, err := f.from.Get(f.ctx, f.key, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n, err = io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
