package recovery

import (
	"encoding/binary"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// A report is a repair.Report in transit.
type report struct {
	repair.Report
	Kept bool   // this rank has a home in the memory of its node
	Job  string // the name of this job in the lock of the files; "": not known yet
}

// append encodes t.
func (t report) append(b []byte) []byte {
	b = wire.AppendUint(wire.AppendUint(b, uint64(t.Node)), uint64(t.Home))
	b = appendLabels(wire.AppendUint(b, t.Epoch), t.Committed)
	b = wire.AppendBool(wire.AppendBool(b, t.Known), t.Kept)
	b = binary.LittleEndian.AppendUint64(b, t.Members)
	b = wire.AppendUint(b, uint64(len(t.Held)))
	for _, h := range t.Held {
		b = wire.AppendUint(appendLabels(b, h.Label), uint64(len(h.Nodes)))
		for _, node := range h.Nodes {
			b = wire.AppendUint(b, uint64(node))
		}
		b = wire.AppendSet(wire.AppendSet(b, h.Data), h.Parity)
	}
	b = wire.AppendUint(b, uint64(len(t.Own)))
	for _, o := range t.Own {
		b = wire.AppendUint(wire.AppendUint(b, uint64(o.Home)), o.Count)
	}
	for _, list := range [][]repair.Label{t.Files, t.Bad} {
		b = appendLabels(wire.AppendUint(b, uint64(len(list))), list...)
	}
	return wire.AppendBytes(b, []byte(t.Job))
}

// lostError returns ErrLost with the ranks whose data are lost, and the options that would have
// kept the data. All ranks have the same reports, and return the same text.
func (w *World) lostError() error {
	label, size, ranks := repair.Missing(w.reports)
	lost := fmt.Sprintf("no process has any data of version %s", label)
	if len(ranks) > 0 {
		lost = fmt.Sprintf("no process has the data of ranks %v (of %d) in version %s", ranks, size, label)
	}
	cfg := w.r.cfg
	remedy := fmt.Sprintf("Config.Copies %d instead of %d survives more deaths at once", cfg.Copies+1, cfg.Copies)
	if cfg.Erasure.Parity > 0 {
		remedy = fmt.Sprintf("Config.Erasure with a Parity above %d survives more deaths at once", cfg.Erasure.Parity)
	}
	if w.r.files == nil {
		remedy += ", and Config.Files keeps versions outside of the job"
	} else {
		remedy += fmt.Sprintf(", and no version in %s can be restored", w.r.files.where)
	}
	return fmt.Errorf("%w: %s; %s", ErrLost, lost, remedy)
}

func appendLabels(b []byte, ls ...repair.Label) []byte {
	for _, l := range ls {
		b = wire.AppendUint(wire.AppendUint(b, l.Epoch), l.Number)
	}
	return b
}

// readReport is the inverse of append.
func readReport(b []byte) (report, error) {
	r := wire.NewReader(b)
	t := report{Report: repair.Report{Node: readIndex(r), Home: readIndex(r), Epoch: r.Uint(), Committed: readLabel(r), Known: r.Bool()}}
	t.Kept, t.Members = r.Bool(), r.Uint64()
	t.Held = readList(r, func() repair.Held {
		return repair.Held{
			Label: readLabel(r), Nodes: readList(r, func() int { return readIndex(r) }),
			Data: r.Set(rankset.RankMax), Parity: r.Set(rankset.RankMax),
		}
	})
	t.Own = readList(r, func() repair.Own { return repair.Own{Home: readIndex(r), Count: r.Uint()} })
	for _, list := range []*[]repair.Label{&t.Files, &t.Bad} {
		*list = readList(r, func() repair.Label { return readLabel(r) })
	}
	t.Job = string(r.Bytes())
	return t, r.Done()
}

func readIndex(r *wire.Reader) int { return r.Below(1 << 31) }

func readLabel(r *wire.Reader) repair.Label { return repair.Label{Epoch: r.Uint(), Number: r.Uint()} }

// readList reads a count and as many values; each value has one byte or more.
func readList[T any](r *wire.Reader, read func() T) (list []T) {
	for range r.Below(r.Left() + 1) {
		list = append(list, read())
	}
	return list
}

// frameBytes is the room for a report and, before it, four bytes with its length. The report of a
// rank fits if the world has some hundred ranks and the rank has two versions of its own. Members
// write frames in one exchange, and the remainders of longer reports in another.
const frameBytes = 512

// exchange gives every rank all reports, by rank.
func exchange(c *comm.Comm, mine report) ([]report, error) {
	texts, err := exchangeTexts(c, mine.append(nil))
	if err != nil {
		return nil, err
	}
	all := make([]report, len(texts))
	for rank, text := range texts {
		if all[rank], err = readReport(text); err != nil {
			return nil, fmt.Errorf("the report of rank %d: %w", rank, err)
		}
	}
	return all, nil
}

// exchangeTexts gives every rank all texts, by rank.
func exchangeTexts(c *comm.Comm, mine []byte) ([][]byte, error) {
	const head = 4
	frame := make([]byte, frameBytes)
	binary.LittleEndian.PutUint32(frame, uint32(len(mine)))
	rest := mine[copy(frame[head:], mine):]
	frames := make([]byte, frameBytes*c.Size())
	if err := collectives.Allgather(uniform, c, frames, frame); err != nil {
		return nil, err
	}
	texts, rests, total := make([][]byte, c.Size()), make([]int, c.Size()), 0
	for rank := range texts {
		f := frames[rank*frameBytes:][:frameBytes:frameBytes]
		n := int(binary.LittleEndian.Uint32(f))
		texts[rank] = f[head:min(head+n, frameBytes):frameBytes]
		rests[rank] = n - len(texts[rank])
		total += rests[rank]
	}
	if total == 0 {
		return texts, nil
	}
	all := make([]byte, total)
	if err := collectives.Allgatherv(uniform, c, all, collectives.Blocks{Counts: rests}, rest); err != nil {
		return nil, err
	}
	for rank, n := range rests {
		texts[rank] = append(texts[rank], all[:n]...)
		all = all[n:]
	}
	return texts, nil
}
