package trial

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
)

func TestProgram(t *testing.T) {
	oops := errors.New("oops")
	for _, c := range []struct {
		name   string
		parse  error
		isRank bool
		drive  error
		code   int
		said   string
	}{
		{"right", nil, false, nil, 5, ""},
		{"help", flag.ErrHelp, false, nil, 0, ""},
		{"wrong flags", oops, false, nil, 2, "x: oops\n"},
		{"a rank", nil, true, nil, 0, ""},
		{"no job", nil, false, oops, 3, "x: oops\n"},
	} {
		var errs strings.Builder
		p := Program[int]{
			Name:  "x",
			Parse: func([]string, io.Writer) (int, error) { return 5, c.parse },
			Rank:  func(int) bool { return c.isRank },
			Drive: func(o int, _ io.Writer) (int, error) { return o, c.drive },
		}
		if code := p.run(nil, io.Discard, &errs); code != c.code || errs.String() != c.said {
			t.Errorf("%s: code %d, said %q", c.name, code, &errs)
		}
		if p.Rank = nil; c.isRank && p.run(nil, io.Discard, &errs) != 5 {
			t.Errorf("%s: nothing is driven", c.name)
		}
	}
}
