package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// farmData is the folder with the results of gridrpc/bench/farm.
const farmData = "../../gridrpc/bench/farm/out"

// farmFigures are Figure 6 of Bouteiller and Desprez: jobs that are done while agents die, with
// their recovery and without. The runs are those of gridrpc/bench/farm: the module gridrpc has the
// rules.
func farmFigures(run) []*figure {
	var all []*figure
	for _, c := range []struct{ id, file, how string }{
		{"diet6a", "simulated.csv", "96 servers, jobs of 28.24 s, simulated"},
		{"diet6b", "waiting.csv", "96 server processes on 2 cores, bodies that wait 0.28 s"},
		{"diet6c", "dgemm.csv", "8 servers on 2 cores, DGEMM of 400 x 400"},
	} {
		f := &figure{id: c.id, title: "Bouteiller and Desprez, Fig. 6: " + c.how, xLabel: "seconds", yLabel: "jobs done"}
		if err := f.readFarm(filepath.Join(farmData, c.file)); err != nil {
			f.claim(false, "the run is there", "", "%v", err)
			all = append(all, f)
			continue
		}
		took := map[string]float64{}
		for _, s := range f.series {
			took[s.name] = s.x[len(s.x)-1]
		}
		mended, lost := took["recovery"]/took["undisturbed"], took["no recovery"]/took["undisturbed"]
		what := fmt.Sprintf("makespan with the deaths of 4 agents, recovery, against %.1f s undisturbed; %s", took["undisturbed"], c.how)
		f.claim(mended <= 1.10, what, "most failures are not even noticeable", "%.3f times", mended)
		judge := f.claim
		if c.id == "diet6c" {
			judge = f.differs
		}
		judge(lost >= 1.25, "the same, no recovery", "a major degradation", "%.3f times", lost)
		if c.id == "diet6b" {
			f.addDask()
		}
		all = append(all, f)
	}
	return all
}

// addDask draws the same farm in Dask beside ours: its workers die at 10 and 35 %, its scheduler at
// 65 %.
func (f *figure) addDask() {
	if err := f.readFarm(filepath.Join(farmData, "dask.csv")); err != nil {
		f.claim(false, "the run of Dask is there", "", "%v", err)
		return
	}
	done := f.series[len(f.series)-1].y
	last := done[len(done)-1]
	f.claim(last == 650, "Dask on the same machine, its scheduler killed when 650 of 1,000 jobs are done", "(none: Dask is younger)", "%.0f are done at all: the others are lost", last)
}

// readFarm adds the curves of a file: name, seconds, jobs done.
func (f *figure) readFarm(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := f.parseFarm(in); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (f *figure) parseFarm(in io.Reader) error {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return err
	}
	for i, row := range rows {
		if i == 0 || len(row) != 3 {
			continue
		}
		x, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		y, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		at := slices.IndexFunc(f.series, func(s *series) bool { return s.name == row[0] })
		s := (*series)(nil)
		if at < 0 {
			s = f.add(row[0], true)
		} else {
			s = f.series[at]
		}
		s.at(x, y)
	}
	if len(f.series) == 0 {
		return errors.New("no curve")
	}
	return nil
}
