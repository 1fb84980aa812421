package record

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		vs   []float64
		want Summary
	}{
		{nil, Summary{}},
		{[]float64{3}, Summary{3, 3, 3, 3}},
		{[]float64{4, 1}, Summary{2.5, 1, 2.5, 4}},
		{[]float64{9, 1, 2}, Summary{4, 1, 2, 9}},
	} {
		if got := Summarize(c.vs); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.vs, got, c.want)
		}
	}
}

func TestSummarizeLeavesTheOrder(t *testing.T) {
	vs := []float64{3, 1, 2}
	Summarize(vs)
	if !slices.Equal(vs, []float64{3, 1, 2}) {
		t.Errorf("the batches became %v", vs)
	}
}

// The simple version counts, for each value, the values that do not exceed it.
func TestQuantileAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 250; n++ {
		vs := make([]float64, n)
		for i := range vs {
			vs[i] = float64(rng.IntN(n))
		}
		for _, percent := range []int{1, 25, 50, 75, 99, 100} {
			want := math.Inf(1)
			for _, v := range vs {
				below := 0
				for _, u := range vs {
					if u <= v {
						below++
					}
				}
				if below*100 >= percent*n {
					want = min(want, v)
				}
			}
			if got := Quantile(vs, float64(percent)/100); got != want {
				t.Fatalf("quantile %d%% of %d values: %v, want %v", percent, n, got, want)
			}
		}
	}
}

func TestWriter(t *testing.T) {
	rs := []Record{
		{Bench: "latency", N: 2, Size: 8, Unit: Micros, Batches: []float64{3, 1, 2}},
		{Bench: "latency", N: 2, Size: 16, Unit: Micros, Batches: []float64{4}},
		{Bench: "rate", N: 2, Size: 8, Unit: Messages, Batches: []float64{20}},
	}
	for _, c := range []struct {
		format Format
		want   string
	}{
		{Table, `# goulfm latency, 2 ranks, 3 batches; the second column is the mean, as OSU's
# Size           Latency (us)            min         median            p99
8                       2.000          1.000          2.000          3.000
16                      4.000          4.000          4.000          4.000

# goulfm rate, 2 ranks, 1 batches; the second column is the mean, as OSU's
# Size            Mmessages/s            min         median            p99
8                      20.000         20.000         20.000         20.000
`},
		{CSV, `bench,n,size,unit,batches,mean,min,median,p99
latency,2,8,us,3,2,1,2,3
latency,2,16,us,1,4,4,4,4
rate,2,8,Mmsg/s,1,20,20,20,20
`},
		{JSON, `{"bench":"latency","n":2,"size":8,"unit":"us","batches":[3,1,2]}
{"bench":"latency","n":2,"size":16,"unit":"us","batches":[4]}
{"bench":"rate","n":2,"size":8,"unit":"Mmsg/s","batches":[20]}
`},
	} {
		var out strings.Builder
		w := NewWriter(&out, c.format)
		for _, r := range rs {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != c.want {
			t.Errorf("format %d:\n%s\nwant\n%s", c.format, out.String(), c.want)
		}
	}
	for _, rank := range []int{0, 1} {
		var out strings.Builder
		if err := AtRoot(rank, &out, CSV).Write(rs[0]); err != nil || (out.Len() > 0) != (rank == 0) {
			t.Errorf("rank %d prints %q, %v", rank, &out, err)
		}
	}
}

func TestParse(t *testing.T) {
	rs, err := Parse(strings.NewReader("mpirun says hello\n  {\"bench\":\"latency\",\"n\":2,\"size\":8,\"unit\":\"us\",\"batches\":[1,2e-1]}\n\nbye\n"))
	if err != nil || len(rs) != 1 || rs[0].Bench != "latency" || !slices.Equal(rs[0].Batches, []float64{1, 0.2}) {
		t.Errorf("%+v %v", rs, err)
	}
	for _, bad := range []string{
		`{"bench":"latency"`,
		`{"bench":"latency","n":2,"size":8,"unit":"us","batches":[]}`,
		`{"n":2,"size":8,"unit":"us","batches":[1]}`,
		`{"bench":"latency","size":8,"unit":"us","batches":[1]}`,
		`{"bench":"latency","n":2,"size":8,"batches":[1]}`,
		`{"bench":"latency","n":2,"size":8,"unit":"us","batches":[nan]}`,
	} {
		if rs, err := Parse(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, rs)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"bench":"latency","n":2,"size":8,"unit":"us","batches":[1,2]}`)
	f.Add("[1]\n{}")
	f.Fuzz(func(t *testing.T, s string) {
		rs, err := Parse(strings.NewReader(s))
		if err != nil {
			return
		}
		for _, r := range rs {
			if r.Bench == "" || r.N < 1 || len(r.Batches) == 0 {
				t.Errorf("an incomplete record: %+v", r)
			}
		}
	})
}
