package flagtext

import (
	"errors"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// someFlags has a flag of each type.
func someFlags() *flag.FlagSet {
	f := flag.NewFlagSet("x", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Duration("timeout", time.Second, "")
	f.Int("n", 0, "")
	f.Int64("watchdog", 0, "")
	f.Uint("u", 0, "")
	f.Uint64("seed", 0, "")
	f.Float64("tol", 0, "")
	f.Bool("quiet", false, "")
	f.Func("tree", "", func(string) error { return errors.New("want AxS") })
	return f
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--timeout", "5"}, "--timeout 5: want a duration such as 5s"},
		{[]string{"-timeout=\n"}, "--timeout \\n: want a duration such as 5s"},
		{[]string{"-n", "x"}, "-n x: want a whole number"},
		{[]string{"-n", "1.5"}, "-n 1.5: want a whole number"},
		{[]string{"-n", "99999999999999999999"}, "-n 99999999999999999999: value out of range"},
		{[]string{"--watchdog", "x"}, "--watchdog x: want a whole number"},
		{[]string{"-u", "-1"}, "-u -1: want a whole number of at least 0"},
		{[]string{"--seed", ""}, "--seed : want a whole number of at least 0"},
		{[]string{"--tol", "small"}, "--tol small: want a number"},
		{[]string{"--quiet=maybe"}, "--quiet maybe: want true or false"},
		{[]string{"--tree", "2"}, "--tree 2: want AxS"},
		{[]string{"--timeout"}, "--timeout: a value is missing"},
		{[]string{"-q"}, "-q: no such flag"},
		{[]string{"--"}, ""},
	} {
		err := Parse(someFlags(), c.args)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, c.want, c.args)
	}
	unknown, ok := errors.AsType[*Unknown](Parse(someFlags(), []string{"--time", "5"}))
	require.True(t, ok)
	assert.Equal(t, "time", unknown.Name)
	assert.ErrorIs(t, Parse(someFlags(), []string{"-h"}), flag.ErrHelp)
	other := errors.New("x")
	assert.Equal(t, other, Explain(someFlags(), other))
}
