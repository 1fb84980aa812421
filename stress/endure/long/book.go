package long

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A row is a piece in the log.
type row struct {
	Date                 time.Time // of its start
	Processor            string
	Seed                 uint64
	Seconds              float64
	Agreements, Failures uint64
	Wrong, Hangs         uint64 // 1 for a piece that was wrong, or that hung
	Code                 int    // of the launcher; -1 after a kill
	Start, Tenth, End    int64  // resident KiB of the launcher: at first, after a tenth, at last
	Rank                 int64  // largest resident KiB of a rank
	Load                 string // average of the last minute, at the end
}

var columns = []string{
	"date", "processor", "seed", "seconds", "agreements", "failures", "wrong", "hangs", "exit code",
	"launcher start KiB", "launcher tenth KiB", "launcher end KiB", "rank KiB", "load",
}

func (r row) right() bool { return r.Wrong == 0 && r.Hangs == 0 }

func (r row) fields() []string {
	return []string{
		r.Date.Format(time.RFC3339), r.Processor, fmt.Sprint(r.Seed), strconv.FormatFloat(r.Seconds, 'f', 1, 64),
		fmt.Sprint(r.Agreements), fmt.Sprint(r.Failures), fmt.Sprint(r.Wrong), fmt.Sprint(r.Hangs), fmt.Sprint(r.Code),
		fmt.Sprint(r.Start), fmt.Sprint(r.Tenth), fmt.Sprint(r.End), fmt.Sprint(r.Rank), r.Load,
	}
}

// parseRow reads the fields of a line; there are as many as columns.
func parseRow(f []string) (r row, err error) {
	var all []error
	failed := func(err error) { all = append(all, err) }
	count := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		failed(err)
		return n
	}
	amount := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		failed(err)
		return n
	}
	r.Date, err = time.Parse(time.RFC3339, f[0])
	failed(err)
	r.Processor, r.Seed = f[1], count(f[2])
	r.Seconds, err = strconv.ParseFloat(f[3], 64)
	failed(err)
	r.Agreements, r.Failures, r.Wrong, r.Hangs, r.Code = count(f[4]), count(f[5]), count(f[6]), count(f[7]), int(amount(f[8]))
	r.Start, r.Tenth, r.End, r.Rank, r.Load = amount(f[9]), amount(f[10]), amount(f[11]), amount(f[12]), f[13]
	return r, errors.Join(all...)
}

// readRows reads the rows of a log. whole is the length of its complete lines: a last line without
// its end was torn, and is no row.
func readRows(log []byte) (rows []row, whole int, err error) {
	whole = bytes.LastIndexByte(log, '\n') + 1
	if whole == 0 {
		return nil, 0, nil
	}
	in := csv.NewReader(bytes.NewReader(log[:whole]))
	in.FieldsPerRecord = len(columns)
	head, err := in.Read()
	if err != nil || !slices.Equal(head, columns) {
		return nil, 0, fmt.Errorf("the first line is not %q", columns)
	}
	for {
		f, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, whole, nil
		}
		var r row
		if err == nil {
			r, err = parseRow(f)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", len(rows)+1, err)
		}
		rows = append(rows, r)
	}
}

// The sums of a log. Pieces that were not right add to Seconds, Wrong and Hangs alone.
type sums struct {
	Pieces, Agreements, Failures, Wrong, Hangs uint64
	Seconds                                    float64
}

func sumsOf(rows []row) (s sums) {
	for _, r := range rows {
		s.Pieces, s.Seconds, s.Wrong, s.Hangs = s.Pieces+1, s.Seconds+r.Seconds, s.Wrong+r.Wrong, s.Hangs+r.Hangs
		if r.right() {
			s.Agreements, s.Failures = s.Agreements+r.Agreements, s.Failures+r.Failures
		}
	}
	return s
}

// String shows the sums beside the paper's.
func (s sums) String() string {
	return fmt.Sprintf("%d agreements and %d failures in %.0f s; pieces %d, wrong %d, hangs %d (the paper's 24 hours: %d and %d)",
		s.Agreements, s.Failures, s.Seconds, s.Pieces, s.Wrong, s.Hangs, paperAgreements, paperFailures)
}

// A book is a log that one driver writes. The lock of the file keeps out a second driver.
type book struct {
	file *os.File
	rows []row
}

// openBook opens or creates a log, and removes a torn last line.
func openBook(name string) (*book, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b := &book{file: file}
	if err := b.begin(); err != nil {
		b.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (b *book) begin() error {
	if err := syscall.Flock(int(b.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another driver writes this log: %w", err)
	}
	text, err := io.ReadAll(b.file)
	if err != nil {
		return err
	}
	rows, whole, err := readRows(text)
	if err != nil {
		return err
	}
	b.rows = rows
	if err := b.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		return b.write(columns)
	}
	return nil
}

func (b *book) close() { _ = b.file.Close() } // each line was synced

// add appends a row.
func (b *book) add(r row) error {
	b.rows = append(b.rows, r)
	return b.write(r.fields())
}

// write appends a line in one call, so that only a kill in its middle tears the line.
func (b *book) write(fields []string) error {
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	_ = w.Write(fields) // into memory
	w.Flush()
	if _, err := b.file.Write(line.Bytes()); err != nil {
		return err
	}
	return b.file.Sync()
}

func (b *book) sums() sums { return sumsOf(b.rows) }

// next returns the seed of the next piece: the one above the largest so far, or first.
func (b *book) next(first uint64) uint64 {
	for _, r := range b.rows {
		first = max(first, r.Seed+1)
	}
	return first
}
