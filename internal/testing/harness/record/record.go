// Package record defines the output of every program of the suite: one Record for each operation
// and size, as a table for people, as CSV, or as one line of JSON that another program reads back.
//
// A Record keeps each batch's mean, so that a comparison of two libraries can choose its
// statistics. Details inside of a batch, such as the slowest single message, are lost, because the
// clock is read twice for each batch.
package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Record holds the figures of one operation at one size.
type Record struct {
	Bench   string    `json:"bench"`   // latency, allreduce, shrink, ...
	N       int       `json:"n"`       // ranks
	Size    int       `json:"size"`    // bytes; 0 where there is no size
	Unit    string    `json:"unit"`    // us, ms, MB/s (10^6 bytes), Mmsg/s (10^6 messages), % or x
	Batches []float64 `json:"batches"` // the mean of each batch, in the order they ran
	// Wrong is the fault that a check of the result found; "" if none. The figures of a wrong
	// result do not count.
	Wrong string `json:"wrong,omitempty"`
}

// The units of a Record.
const (
	Micros   = "us"
	Millis   = "ms"
	MBps     = "MB/s"
	Messages = "Mmsg/s"
	Percent  = "%"
	Times    = "x" // a figure that is a ratio already
)

// MoreIsBetter reports whether a larger figure in that unit is better. The only percentage is that
// of communication hidden behind work.
func MoreIsBetter(unit string) bool { return unit == MBps || unit == Messages || unit == Percent }

// Summary returns the statistics of the batches.
func (r Record) Summary() Summary { return Summarize(r.Batches) }

// A Summary holds the statistics of some figures.
type Summary struct {
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

// Summarize returns the statistics of vs; all zero if there are none.
func Summarize(vs []float64) Summary {
	if len(vs) == 0 {
		return Summary{}
	}
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	return Summary{Mean: sum / float64(len(vs)), Min: slices.Min(vs), Median: Median(vs), P99: Quantile(vs, 0.99)}
}

// Median returns the middle value, or the mean of the middle two; 0 of nothing.
func Median(vs []float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(vs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Quantile returns the smallest value that at least the fraction q of vs does
// not exceed (nearest rank), q in (0, 1]; 0 of nothing. With fewer than 100
// values the 0.99 quantile is therefore the largest.
func Quantile(vs []float64, q float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(vs))
	// The factor keeps 0.99*100, which is 99.00000000000001 or less, at 99.
	at := int(q*float64(len(s))*(1-1e-12)+1) - 1
	return s[min(max(at, 0), len(s)-1)]
}

// Parse reads the records of an output: the lines that begin with a brace. Other lines are skipped,
// because launchers print lines of their own.
func Parse(r io.Reader) ([]Record, error) {
	var rs []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var rec Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			return nil, fmt.Errorf("the line %.80q is no record: %w", line, err)
		}
		if rec.Bench == "" || rec.N < 1 || rec.Unit == "" || len(rec.Batches) == 0 {
			return nil, fmt.Errorf("the line %.80q lacks bench, n, unit or batches", line)
		}
		rs = append(rs, rec)
	}
	return rs, lines.Err()
}

// lineMax bounds a line of output, in bytes. No run of acceptable length has so many batches.
const lineMax = 1 << 20
