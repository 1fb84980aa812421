package hostlist

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExpand: the output of Slurm 24.11's "scontrol show hostnames" for each list.
func TestExpand(t *testing.T) {
	for list, want := range map[string]string{
		"":                        "",
		"n1":                      "n1",
		"n[001-003,12],gpu3":      "n001 n002 n003 n12 gpu3",
		"n[001-010,12],gpu3":      "n001 n002 n003 n004 n005 n006 n007 n008 n009 n010 n12 gpu3",
		"r[1-2]n[01-03]":          "r1n01 r1n02 r1n03 r2n01 r2n02 r2n03",
		"n[1-2][3-4]":             "n13 n14 n23 n24",
		"n[1-2]-ib[0-1].x":        "n1-ib0.x n1-ib1.x n2-ib0.x n2-ib1.x",
		"n[9-010]":                "n9 n10",
		"n[08-10]":                "n08 n09 n10",
		"n[99-101]":               "n99 n100 n101",
		"n[3,2,1]":                "n3 n2 n1",
		"n[1,1]":                  "n1 n1",
		"n1,n1":                   "n1 n1",
		"[1-3]":                   "1 2 3",
		"login_1,a-b.example.org": "login_1 a-b.example.org",
	} {
		hosts, err := Expand(list)
		require.NoError(t, err, list)
		assert.Equal(t, want, strings.Join(hosts, " "), list)
	}
}

// TestExpandErrors: each error gives the position, the expected text and the found text.
func TestExpandErrors(t *testing.T) {
	for list, want := range map[string]string{
		"n[1":                               `line 1, column 4: expected "-", "," or "]" after a number in brackets, found the end`,
		"n[1-":                              `line 1, column 5: expected a number that is not below 1, the end of a range, found the end`,
		"n[1-]":                             `column 5: expected a number that is not below 1, the end of a range, found "]"`,
		"n[3-1]":                            `column 5: expected a number that is not below 3, the end of a range, found "1]"`,
		"n[]":                               `column 3: expected a number of at most 18 digits in brackets, found "]"`,
		"n[a-c]":                            `column 3: expected a number of at most 18 digits in brackets, found "a-c]"`,
		"n[1,a[1-2]]":                       `column 5: expected a number of at most 18 digits in brackets, found "a[1-2]]"`,
		"n[1[2]]":                           `column 4: expected "," or "]": brackets do not go into brackets, found "[2]]"`,
		"n[1 - 3]":                          `column 4: expected "-", "," or "]" after a number in brackets, found a blank`,
		"n1]":                               `column 3: expected a "," before the next host, or the end, found "]"`,
		"n1,,n2":                            `column 4: expected a host name, which begins with a letter or a digit, found ",n2"`,
		"n1,":                               `column 4: expected a host name, which begins with a letter or a digit, found the end`,
		",n1":                               `column 1: expected a host name, which begins with a letter or a digit, found ",n1"`,
		"n1 n2":                             `column 3: expected a "," before the next host, or the end, found a blank`,
		"n1,-oProxy=x":                      `column 4: expected a host name, which begins with a letter or a digit, found "-oProxy=x"`,
		"ä1":                                `column 1: expected a host name, which begins with a letter or a digit, found "ä1"`,
		"n1,ä,ö":                            `column 4: expected a host name, which begins with a letter or a digit, found "ä,ö"`,
		"n[1-65537]":                        `column 3: expected at most 65536 hosts in all, found "1-65537]"`,
		"n[1-256]a[257]":                    "",
		"a,n[1-65536]":                      `column 5: expected at most 65536 hosts in all, found "1-65536]"`,
		"n[1-300]a[1-300]":                  `column 10: expected at most 65536 hosts in all, found "[1-300]"`,
		"a,n[1-256]a[1-256]":                `column 12: expected at most 65536 hosts in all, found "[1-256]"`,
		"n[1-40000,1-40000]":                `column 11: expected at most 65536 hosts in all, found "1-40000]"`,
		"n[1-65536],a":                      `column 12: expected at most 65536 hosts in all, found "a"`,
		"n[1-9999999999999999999]":          `column 5: expected a number that is not below 1, the end of a range, found "9999999999999999999]"`,
		"n[1-999999999999999999]":           `column 3: expected at most 65536 hosts in all`,
		strings.Repeat("n", 256):            `column 1: expected a host name of at most 255 bytes, found "nnnnnnnnnnnnnnnnnnnnnnnn"`,
		strings.Repeat("n[1]", 200):         `column 1: expected a host name of at most 255 bytes`,
		strings.Repeat("n", 254) + "[9-10]": `column 1: expected a host name of at most 255 bytes`,
		"n[1-65536]" + strings.Repeat("m", 1<<20):       `column 1: expected a host name of at most 255 bytes`,
		"n[1-3000]" + strings.Repeat("[1]", 1000) + "!": `column 1: expected a host name of at most 255 bytes`,
	} {
		hosts, err := Expand(list)
		if want == "" {
			assert.NoError(t, err, list)
			continue
		}
		assert.Nil(t, hosts)
		require.ErrorContains(t, err, want, "%.40s", list)
		var e *Error
		assert.True(t, errors.As(err, &e) && e.Line == 1 && e.Want != "" && e.Found != "")
	}
}

// TestFormat: the short form that Slurm's "scontrol show hostlist" prints. Slurm merges a few
// letters more, as in a1b1, a1b2; only there is more than one form possible.
func TestFormat(t *testing.T) {
	for hosts, want := range map[string]string{
		"":                      "",
		"n1":                    "n1",
		"n1 n2 n3 n10":          "n[1-3,10]",
		"n001 n002 gpu3":        "n[001-002],gpu3",
		"n9 n10 n11":            "n[9-11]",
		"n09 n10 n11":           "n[09-11]",
		"n1 n1":                 "n[1,1]",
		"n3 n2 n1":              "n[3,2,1]",
		"n1-ib n2-ib":           "n1-ib,n2-ib",
		"a1b1 a1b2 a2b1":        "a1b[1-2],a2b1",
		"n n1 n2 n":             "n,n[1-2],n",
		"1 2 3":                 "[1-3]",
		"n1 n02 n3":             "n[1,02,3]",
		"n99999999999999999999": "n99999999999999999999",
		"n00000000000000000001 n00000000000000000002": "n00[000000000000000001-000000000000000002]",
	} {
		assert.Equal(t, want, Format(strings.Fields(hosts)), hosts)
	}
}

// TestFormatAndBack: Expand returns the hosts that Format was given, for random hosts of few
// kinds, so that ranges, leading zeros and doubles meet.
func TestFormatAndBack(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	for range 2000 {
		var hosts []string
		for n := r.IntN(300); n > 0; n -= 5 { // runs of up to 9
			first, width := r.IntN(120), 1+r.IntN(3)
			for k := range 1 + r.IntN(9) {
				hosts = append(hosts, fmt.Sprintf("%s%0*d", []string{"n", "gpu", "r1n", ""}[r.IntN(4)%(1+k)], width, first+k))
			}
		}
		back, err := Expand(Format(hosts))
		require.NoError(t, err)
		require.Equal(t, hosts, back, "seed %d: %s", seed, Format(hosts))
	}
}

func TestCounts(t *testing.T) {
	for list, want := range map[string][]int{
		"": nil, "4": {4}, "2(x3),1": {2, 2, 2, 1}, "5,1(x2)": {5, 1, 1}, "1048576": {SlotsMax}, "3,1": {3, 1},
	} {
		counts, err := Counts(list)
		require.NoError(t, err, list)
		assert.Equal(t, want, counts, list)
	}
	for list, want := range map[string]string{
		"x":                   `line 1, column 1: expected a count from 1 to 1048576, found "x"`,
		"0":                   `column 1: expected a count from 1 to 1048576, found "0"`,
		"1048577":             `column 1: expected a count`,
		"2,":                  `column 3: expected a count from 1 to 1048576, found the end`,
		"2(3)":                `column 3: expected "x" after "(", found "3)"`,
		"2(x0)":               `column 4: expected a number of nodes from 1 to 65536, found "0)"`,
		"2(x3":                `column 5: expected ")" after a number of nodes, found the end`,
		"2(x3)4":              `column 6: expected "(x", "," or the end after a count, found "4"`,
		"1(x65536),1":         `column 12: expected at most 65536 nodes in all, found the end`,
		"1(x40000),1(x40000)": `column 12: expected at most 65536 nodes in all, found "(x40000)"`,
		"-1":                  `column 1: expected a count`,
	} {
		_, err := Counts(list)
		assert.ErrorContains(t, err, want, list)
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"n[001-010,12],gpu3", "r[1-2]n[01-03]", "[1-3]", "n[", "n[1-65536]", "n1,,n2", "n[1-99999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := Expand(list)
		checkBounds(t, list, hosts, err)
		if err != nil {
			return
		}
		back, err := Expand(Format(hosts))
		require.NoError(t, err)
		require.Equal(t, hosts, back)
	})
}

// checkBounds: an error names a place in the text; hosts are few, short, and no options.
func checkBounds(t *testing.T, text string, hosts []string, err error) {
	if err != nil {
		var e *Error
		require.ErrorAs(t, err, &e)
		lines := strings.Split(strings.TrimPrefix(text, byteOrderMark), "\n")
		require.True(t, 1 <= e.Line && e.Line <= len(lines) && 1 <= e.Col && e.Col <= len(lines[e.Line-1])+1, "%v in %q", e, text)
		require.Less(t, len(e.Error()), 300)
	}
	require.LessOrEqual(t, len(hosts), HostsMax)
	for _, h := range hosts {
		require.True(t, h != "" && len(h) <= NameMax && h[0] != '-' && !strings.ContainsAny(h, "[] ,@#"), "host %q", h)
	}
}

func FuzzCounts(f *testing.F) {
	for _, s := range []string{"2(x3),1", "5,1(x2)", "1(x", "1(x65536)", "99999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		counts, err := Counts(list)
		checkBounds(t, list, nil, err)
		require.LessOrEqual(t, len(counts), HostsMax)
		for _, n := range counts {
			require.True(t, 1 <= n && n <= SlotsMax)
		}
	})
}
