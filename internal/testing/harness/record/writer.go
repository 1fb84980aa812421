package record

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Format is the output format of a Writer.
type Format int

// The formats.
const (
	Table Format = iota // columns as OSU's, then minimum, median and p99
	CSV
	JSON // one line for each record, with all batches
)

// A Writer prints records as they come. Its zero value discards them, for the
// ranks that do not print.
type Writer struct {
	out    io.Writer
	format Format
	last   Record // the previous record
	lines  int
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer, format Format) *Writer { return &Writer{out: out, format: format} }

// AtRoot returns a Writer to out at rank 0, and one that discards at the others.
func AtRoot(rank int, out io.Writer, format Format) *Writer {
	if rank != 0 {
		return new(Writer)
	}
	return NewWriter(out, format)
}

// Write prints one record.
func (w *Writer) Write(r Record) error {
	if w.out == nil {
		return nil
	}
	defer func() { w.last = r; w.lines++ }()
	switch w.format {
	case JSON:
		return json.NewEncoder(w.out).Encode(r)
	case CSV:
		return w.csv(r)
	default:
		return w.table(r)
	}
}

func (w *Writer) csv(r Record) error {
	if w.lines == 0 {
		if _, err := fmt.Fprintln(w.out, "bench,n,size,unit,batches,mean,min,median,p99"); err != nil {
			return err
		}
	}
	s := r.Summary()
	_, err := fmt.Fprintf(w.out, "%s,%d,%d,%s,%d,%.6g,%.6g,%.6g,%.6g\n", r.Bench, r.N, r.Size, r.Unit, len(r.Batches), s.Mean, s.Min, s.Median, s.P99)
	return err
}

// names are the titles of OSU's second column.
var names = map[string]string{Micros: "Latency (us)", Millis: "Time (ms)", MBps: "Bandwidth (MB/s)", Messages: "Mmessages/s", Percent: "Percent", Times: "Times"}

func (w *Writer) table(r Record) error {
	if r.Bench != w.last.Bench || r.N != w.last.N {
		gap := ""
		if w.lines > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w.out, "%s# goulfm %s, %d ranks, %d batches; the second column is the mean, as OSU's\n%-10s %18s %14s %14s %14s\n",
			gap, r.Bench, r.N, len(r.Batches), "# Size", names[r.Unit], "min", "median", "p99"); err != nil {
			return err
		}
	}
	s := r.Summary()
	_, err := fmt.Fprintf(w.out, "%-10d %18.3f %14.3f %14.3f %14.3f\n", r.Size, s.Mean, s.Min, s.Median, s.P99)
	return err
}
