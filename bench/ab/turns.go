package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// jobMax bounds one job.
const jobMax = time.Minute

// A measure is the figure of a row in one turn.
type measure struct {
	value float64
	unit  string
}

// figures are those of one turn.
type figures map[row]measure

// A meter lets two sides take turns.
type meter struct {
	base, head *side
	pairs      int
	progress   io.Writer
	// take runs a turn of one side; nil: the jobs of the family.
	take func(ctx context.Context, s *side, f family) (figures, error)
}

// A lack is a row that was not measured.
type lack struct {
	row    row
	side   string
	reason string
}

// A result is all figures of a row, by pair.
type result struct {
	row        row
	unit       string
	base, head []float64
}

// measureAll measures families.
func (m *meter) measureAll(ctx context.Context, fs []family) (results []result, lacks []lack, err error) {
	for _, f := range fs {
		some, without, err := m.measure(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		results, lacks = append(results, some...), append(lacks, without...)
	}
	return results, lacks, nil
}

// measure takes the pairs of one family: base and head, head and base, and so on.
func (m *meter) measure(ctx context.Context, f family) (results []result, lacks []lack, err error) {
	byRow := map[row]*result{}
	for _, r := range f.rows {
		byRow[r] = &result{row: r}
	}
	without := func(rows []row, s *side, reason string) {
		for _, r := range rows {
			if byRow[r] != nil {
				lacks = append(lacks, lack{r, s.name + " " + s.revision, reason})
				delete(byRow, r)
			}
		}
	}
	for _, s := range []*side{m.base, m.head} {
		if reason, ok := s.lacks[f.program]; ok {
			without(f.rows, s, reason)
		}
	}
	for pair := 0; pair < m.pairs && len(byRow) > 0; pair++ {
		fmt.Fprintf(m.progress, "ab: %s, pair %d of %d\n", f, pair+1, m.pairs)
		for _, s := range m.order(pair) {
			got, err := m.turn(ctx, s, f)
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil && s == m.base && pair == 0: // an older program may have other flags
				without(f.rows, s, err.Error())
				got = nil
			case err != nil:
				return nil, nil, fmt.Errorf("%s, %s %s: %w", f, s.name, s.revision, err)
			}
			for _, r := range slices.Collect(maps.Keys(byRow)) {
				v, ok := got[r]
				if !ok {
					without([]row{r}, s, "its program does not print this row")
					continue
				}
				byRow[r].add(s == m.base, v)
			}
		}
	}
	for _, r := range f.rows {
		if byRow[r] != nil {
			results = append(results, *byRow[r])
		}
	}
	slices.SortStableFunc(lacks, func(a, b lack) int { return slices.Index(f.rows, a.row) - slices.Index(f.rows, b.row) })
	return results, lacks, nil
}

func (m *meter) order(pair int) []*side {
	if pair%2 == 1 {
		return []*side{m.head, m.base}
	}
	return []*side{m.base, m.head}
}

func (r *result) add(base bool, v measure) {
	r.unit = v.unit
	if base {
		r.base = append(r.base, v.value)
	} else {
		r.head = append(r.head, v.value)
	}
}

// turn runs the jobs of a turn, and returns the figure of each row.
func (m *meter) turn(ctx context.Context, s *side, f family) (figures, error) {
	if m.take != nil {
		return m.take(ctx, s, f)
	}
	values := map[row][]float64{}
	units := map[row]string{}
	for range f.jobs {
		records, err := runJob(ctx, s, f)
		if err != nil {
			return nil, err
		}
		for _, rec := range records {
			r := row{f.prefix + rec.Bench, rec.N, rec.Size}
			values[r], units[r] = append(values[r], f.figureOf(rec.Unit, rec.Batches)), rec.Unit
		}
	}
	got := figures{}
	for r, vs := range values {
		got[r] = measure{f.figureOf(units[r], vs), units[r]}
	}
	return got, nil
}

// figureOf is the figure of the batches of a job, and of the jobs of a turn. Of loops of a few ms
// it is the best one: other work on the machine only makes them slower, and some of them are free
// of it. Of failures each has its own course: the median.
func (f family) figureOf(unit string, vs []float64) float64 {
	switch {
	case !f.listed:
		return record.Median(vs)
	case record.MoreIsBetter(unit):
		return slices.Max(vs)
	}
	return slices.Min(vs)
}

func runJob(ctx context.Context, s *side, f family) ([]record.Record, error) {
	dir, err := os.MkdirTemp("", "goulfm-ab-values-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "values.csv")
	res, err := job.Run(ctx, jobMax, s.argv(f, file))
	if err != nil {
		return nil, err
	}
	switch f.read {
	case life:
		return []record.Record{{Bench: f.bare(f.rows[0]), N: f.n, Unit: record.Millis, Batches: []float64{res.Took.Seconds() * 1e3}}}, nil
	case valued:
		text, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer text.Close()
		rec, err := readValues(text)
		rec.Bench, rec.N = f.bare(f.rows[0]), f.n
		return []record.Record{rec}, err
	}
	if len(res.Records) == 0 {
		return nil, errors.New("the program printed no record")
	}
	return res.Records, nil
}

// readValues reads the file of a driver with one figure: lines of figure, text, unit and value.
func readValues(in io.Reader) (rec record.Record, err error) {
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return rec, err
	}
	about := ""
	for i, l := range lines {
		if i == 0 || len(l) != 4 {
			continue
		}
		if about == "" {
			about, rec.Unit = l[1], l[2]
		}
		if l[1] != about || l[2] != rec.Unit {
			return rec, fmt.Errorf("values of both %q and %q: want those of one figure", about, l[1])
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(l[3]), 64)
		if err != nil {
			return rec, fmt.Errorf("value %q of %q: want a number", l[3], about)
		}
		rec.Batches = append(rec.Batches, v)
	}
	if len(rec.Batches) == 0 {
		return rec, errors.New("the program wrote no value")
	}
	return rec, nil
}
