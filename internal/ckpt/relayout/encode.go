package relayout

import "github.com/goulfm/goulfm/internal/base/wire"

// AppendRuns appends the runs of one rank in the form that others read: their number, and the start
// and the count of each run. A rank knows its own runs; the others receive them in the exchange in
// which a version is chosen.
func AppendRuns(dst []byte, runs []Run) []byte {
	dst = wire.AppendUint(dst, uint64(len(runs)))
	for _, r := range runs {
		dst = wire.AppendUint(dst, uint64(r.Start))
		dst = wire.AppendUint(dst, uint64(r.Count))
	}
	return dst
}

// ReadRuns decodes the encoding of AppendRuns. Other bytes give an error of the Reader, or runs
// that Check refuses. ReadRuns allocates at most about 8 times the bytes.
func ReadRuns(r *wire.Reader) []Run {
	n := r.Below(r.Left()/2 + 1) // a run has two bytes or more
	runs := make([]Run, 0, n)
	for range n {
		runs = append(runs, Run{Start: int(r.Uint()), Count: int(r.Uint())})
	}
	if r.Err() != nil {
		return nil
	}
	return runs
}
