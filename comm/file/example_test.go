package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/comm/file"
)

// shown lets an example serve as a test: its errors are printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Each rank writes its part of a field; then rank 0 has the file. A read behind its end, by one
// rank, is an error at all ranks.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "field.bin")
	commtest.Run(shown{}, 3, func(ctx context.Context, w *comm.Comm) {
		lo, hi := comm.Block(8, w.Size(), w.Rank())
		part := make([]uint8, hi-lo)
		for i := range part {
			part[i] = 'a' + uint8(lo+i)
		}
		f, err := file.OpenAll(ctx, w, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = file.WriteAtAll(ctx, w, f, part, int64(lo))
		behind := file.ReadAtAll(ctx, w, f, make([]uint8, 7), int64(w.Rank()))
		err = errors.Join(err, file.SyncAll(ctx, w, f), file.CloseAll(ctx, w, f))
		if w.Rank() == 0 {
			text, err2 := os.ReadFile(name)
			fmt.Println(string(text), err, err2)
			fmt.Println(errors.Is(behind, io.ErrUnexpectedEOF))
		}
	})
	// Output:
	// abcdefgh <nil> <nil>
	// true
}
