package recovery

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// head describes the file of this rank. Members that are the same at all ranks are in the file of
// rank 0 alone.
func (w *World) head(job string, l repair.Label, p part) ckptfile.Head {
	h := ckptfile.Head{Job: job, Epoch: l.Epoch, Number: l.Number, Size: w.Size(), Rank: w.Rank()}
	for i, m := range w.members {
		f := m.described()
		if w.writes(m) {
			f.Bytes = int64(len(p[i]))
		}
		if m.isRows() {
			f.Runs = m.runs(w)
		}
		h.Members = append(h.Members, f)
	}
	return h
}

// runs returns the elements of a member of Rows that this rank of a world holds.
func (m Member) runs(w *World) [][2]int {
	lo, hi := w.Block(m.option.Total)
	return [][2]int{{lo * m.option.Width, (hi - lo) * m.option.Width}}
}

// writes reports whether a member is in the file of this rank.
func (w *World) writes(m Member) bool { return !m.option.Same || w.Rank() == 0 }

// described is a file's description of a member without its data: the same at all ranks.
func (m Member) described() ckptfile.Member {
	return ckptfile.Member{Name: m.name, Kind: m.kind, Element: m.elem, Options: m.option.String()}
}

// writeFile puts a part into a store, and returns its entry in the manifest.
func writeFile(ctx context.Context, s checkpoint.Store, head ckptfile.Head, p part) (ckptfile.File, error) {
	file := ckptfile.File{Name: ckptfile.FileName(head.Rank)}
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var err error
		file.Bytes, file.CRC, err = encodeFile(w, head, p)
		_ = w.CloseWithError(err) // a pipe's never fails
	}()
	err := s.Put(ctx, ckptfile.FolderName(head.Job, head.Epoch, head.Number)+"/"+file.Name, -1, r)
	_ = r.CloseWithError(io.ErrClosedPipe) // ends the encoder if Put has stopped reading
	<-ended
	return file, err
}

func encodeFile(w io.Writer, head ckptfile.Head, p part) (size int64, crc uint32, err error) {
	f, err := ckptfile.NewWriter(w, head, ckptfile.Auto)
	if err != nil {
		return 0, 0, err
	}
	for i, m := range head.Members {
		if _, err := f.Write(p[i][:m.Bytes]); err != nil {
			return 0, 0, err
		}
	}
	return f.Close()
}

func publishManifest(ctx context.Context, s checkpoint.Store, m ckptfile.Manifest) error {
	b, err := m.Encode()
	if err != nil {
		return err
	}
	return s.Put(ctx, m.Folder()+"/"+ckptfile.ManifestName, int64(len(b)), bytes.NewReader(b))
}

// collectFiles gathers the file entries of all ranks at rank 0; the others get nil.
func collectFiles(w *World, mine ckptfile.File) ([]ckptfile.File, error) {
	all, err := collectives.GatherValue(w.ctx, w.base, 0, mine)
	if err != nil || w.Rank() > 0 {
		return nil, err
	}
	return all, nil
}

// String is the text of options in a file. A program with another text does not read the file.
func (o options) String() string {
	text := ""
	for _, flag := range []struct {
		is   bool
		name string
	}{{o.Same, "same "}, {o.Static, "static "}, {o.Forward, "forward "}, {o.Own, "own "}} {
		if flag.is {
			text += flag.name
		}
	}
	if o.Width > 0 {
		text += fmt.Sprintf("rows %dx%d ", o.Total, o.Width)
	}
	return text
}
