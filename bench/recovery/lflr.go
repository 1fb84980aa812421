package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

var agreed = regexp.MustCompile(`agreements: (\d+) in ([\d.]+) s`)

// A finite is the report of one run of minife: times in us, but took in s.
type finite struct {
	took       float64
	repair     []float64
	agreements int
	agreeing   float64
}

func (b *bench) minife(n int, launch string, more ...string) (f finite, err error) {
	file, err := b.example("minife")
	if err != nil {
		return f, err
	}
	side, steps := "16", "8" // the paper's 20 would take minutes on two cores
	if b.quick {
		side, steps = "4", "2"
	}
	args := append([]string{"-nx", side, "-ny", side, "-nz", strconv.Itoa(4 * n), "-steps", steps, "-every", "1"}, more...)
	r, err := b.job(n, launch, file, args...)
	if err != nil {
		return f, err
	}
	f.took = r.Took.Seconds()
	for _, ms := range phasesOf(r.Stderr).seen {
		f.repair = append(f.repair, 1000*ms)
	}
	if m := agreed.FindStringSubmatch(r.Stdout); m != nil {
		f.agreements, _ = strconv.Atoi(m[1]) // the pattern has digits
		f.agreeing, _ = strconv.ParseFloat(m[2], 64)
		f.agreeing *= 1e6
	}
	return f, nil
}

// lflr is figures 5a to 5c: a repair of MiniFE, the time of an agreement, and the share of all
// agreements in the whole time. A rank is lost once, at its fifth step, and one of the spares
// replaces it.
func (b *bench) lflr() (*table, error) {
	t := &table{id: "lflr", title: paperTitle}
	var sim [3]*graph
	measured := [3]*graph{{id: "lflr5a", yLabel: "us of a repair"}, {id: "lflr5b", yLabel: "us of an agreement"}, {id: "lflr5c", yLabel: "share of all time that agreements take, %"}}
	for i, g := range measured {
		g.xLabel = "processes"
		var err error
		if sim[i], err = readGraph(b.simulated, g.id); err != nil {
			return nil, err
		}
	}
	for _, agree := range agreements {
		for _, n := range b.sizes([]int{8, 16, 32}, []int{4}) {
			if err := b.finite(t, sim, measured, agree, n); err != nil {
				return nil, err
			}
		}
	}
	for _, g := range measured {
		if err := g.write(b.out); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// finite adds the reports of minife with n ranks to the three figures.
func (b *bench) finite(t *table, sim [3]*graph, measured [3]*graph, agree string, n int) error {
	var repair, each, share, whole, plain []float64
	calls := 0
	for range b.roundsOr(3, 1) {
		say("minife of %d, --agree %s", n, agree)
		launch := "--spares 4 --agree " + agree
		kill := fmt.Sprintf(" --kill %d@step=%d", n/2, map[bool]int{true: 2, false: 5}[b.quick])
		with, err := b.minife(n, launch+kill, "-agree", "each")
		if err != nil {
			return err
		}
		without, err := b.minife(n, launch+kill)
		if err != nil {
			return err
		}
		if with.agreements == 0 || len(with.repair) == 0 {
			return fmt.Errorf("minife of %d: %d agreements, %d repairs", n, with.agreements, len(with.repair))
		}
		calls = with.agreements
		repair = append(repair, with.repair...)
		each = append(each, with.agreeing/float64(with.agreements))
		share = append(share, 100*with.agreeing/1e6/with.took)
		whole, plain = append(whole, with.took), append(plain, without.took)
	}
	x, suffix := float64(n), ", --agree "+agree
	measured[0].at("measured"+suffix, x, record.Median(repair))
	measured[1].at("measured"+suffix, x, record.Median(each))
	measured[2].at("measured"+suffix, x, record.Median(share))
	t.compare("5a", fmt.Sprintf("repair of %d with 4 spares%s", n, suffix), "512 to 2,048: ERA scales better than Log2phases (no numbers in the text)", sim[0], "era, as here: six agreements and an exchange", x, repair)
	t.compare("5b", fmt.Sprintf("an agreement of %d, of %d%s", n, calls, suffix), "ERA's benefit is visible (no numbers in the text)", sim[1], "era", x, each)
	t.keep(fmt.Sprintf("minife of %d%s, agreements", n, suffix), record.Percent, share)
	t.add("5c", fmt.Sprintf("all of minife of %d%s: %.2f s, %.2f without agreements in iterations", n, suffix, record.Median(whole), record.Median(plain)),
		"ERA makes the whole 10 % faster than Log2phases at 2,048", "", "agreements "+spread(share)+" % of all", "")
	return nil
}
