package hostlist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParseFile: the forms of a host of Open MPI, hydra and schedulers, in one file.
func TestParseFile(t *testing.T) {
	h, err := ParseFile(byteOrderMark + `# a comment
n1 slots=4
n2:4
  n3	max_slots=8 # and more
n4 slots = 2  max-slots= 3 rack = r_1.a-2
n[20-21] rack=s0.s4 slots=1
n[5-6,010] slots=2
user@n7
fe80::1%eth0 slots=3
[fd00::7]:4
b.o-b_@[::1]
10.0.0.1:2` + "\r\n\r\n")
	require.NoError(t, err)
	assert.Empty(t, h.Notes)
	assert.Equal(t, []Host{
		{Name: "n1", Slots: 4}, {Name: "n2", Slots: 4}, {Name: "n3", Max: 8}, {Name: "n4", Slots: 2, Max: 3, Rack: "r_1.a-2"},
		{Name: "n20", Slots: 1, Rack: "s0.s4"}, {Name: "n21", Slots: 1, Rack: "s0.s4"},
		{Name: "n5", Slots: 2}, {Name: "n6", Slots: 2}, {Name: "n010", Slots: 2}, {Name: "n7", User: "user"},
		{Name: "fe80::1%eth0", Slots: 3}, {Name: "fd00::7", Slots: 4}, {Name: "::1", User: "b.o-b_"}, {Name: "10.0.0.1", Slots: 2},
	}, h.Hosts)
}

// TestParseFileMerges: schedulers name a host once for each process. The same name for another
// user is another host.
func TestParseFileMerges(t *testing.T) {
	h, err := ParseFile("n1\nn2 slots=3\nn1 rack=r\nme@n1\nn1\nn2 max_slots=9\n")
	require.NoError(t, err)
	assert.Equal(t, []Host{{Name: "n1", Slots: 3, Rack: "r"}, {Name: "n2", Slots: 4, Max: 9}, {Name: "n1", User: "me"}}, h.Hosts)
	assert.Equal(t, []string{"n1 is named 3 times: taken as one host with 3 slots", "n2 is named 2 times: taken as one host with 4 slots"}, h.Notes)
}

func TestParseFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `line 1, column 1: expected a host, as "n1 slots=4": the file has none, found the end`,
		"# n1\n\n":                   `line 3, column 1: expected a host, as "n1 slots=4": the file has none, found the end`,
		"n1\nn2 slot=4":              `line 2, column 4: expected "slots=N", "max_slots=N", "rack=NAME" or the end of the line, found "slot=4"`,
		"n1 slots=0":                 `line 1, column 10: expected a number of slots from 1 to 1048576, found "0"`,
		"n1 slots=-1":                `column 10: expected a number of slots from 1 to 1048576, found "-1"`,
		"n1 slots=4x":                `column 11: expected ":SLOTS", a blank or the end of the line after a host, found "x"`,
		"n1 rack=":                   `line 1, column 9: expected the name of a rack: 1 to 255 letters, digits, ".", "-" or "_", found the end`,
		"n1 rack=a/b":                `column 9: expected the name of a rack: 1 to 255 letters, digits, ".", "-" or "_", found "a/b"`,
		"n1 rack a":                  `column 9: expected "=" after "rack", found "a"`,
		"n1 rack=a rack=a":           `column 11: expected "rack" only once for a host, found "rack=a"`,
		"n1 rack=a\nn1\nn1 rack=b":   `line 3, column 1: expected rack=a for n1 on all its lines, or no rack, found "n1"`,
		"n1 slots 4":                 `column 10: expected "=" after "slots", found "4"`,
		"n1 slots=":                  `column 10: expected a number of slots`,
		"n1:4 slots=4":               `column 6: expected "slots" only once for a host, found "slots=4"`,
		"n1 slots=4 max_slots=3":     `column 22: expected slots that are not above max_slots, found "3"`,
		"n1 max_slots=3 max-slots=3": `expected "max-slots" only once for a host`,
		"n1:":                        `column 4: expected a number of slots from 1 to 1048576, found the end`,
		"n1,n2":                      `column 3: expected ":SLOTS", a blank or the end of the line after a host, found ",n2"`,
		"n1 n2":                      `column 4: expected "slots=N", "max_slots=N", "rack=NAME" or the end of the line, found "n2"`,
		"@n1":                        `column 1: expected a user's name before "@", found "@n1"`,
		"-l@n1":                      `column 1: expected a user's name before "@", found "-l@n1"`,
		"a@-oProxyCommand=x":         `column 3: expected a host name, which begins with a letter or a digit, found "-oProxyCommand=x"`,
		"n1:4:5":                     `column 1: expected an IPv6 address, as "fd00::7" or "[fd00::7]:SLOTS", found "n1:4:5"`,
		"[fd00::7":                   `column 9: expected "]" after an IPv6 address, found the end`,
		"[fd00:7]":                   `column 1: expected an IPv6 address`,
		"n1\nn1 slots=1048576":       `line 2, column 1: expected at most 1048576 slots for n1 on all its lines, found "n1"`,
		"n1 max_slots=2\nn1\nn1\n":   `line 3, column 1: expected at most 2 slots for n1 on all its lines, found "n1"`,
		"n[1-65536]\nm":              `line 2, column 1: expected at most 65536 hosts in all, found "m"`,
		"n[1-65536]\n::1":            `line 2, column 1: expected at most 65536 hosts in all, found "::1"`,
		"\tä":                        `line 1, column 2: expected a host name, which begins with a letter or a digit, found "ä"`,
		strings.Repeat("n", 256):     `expected a host name of at most 255 bytes`,
	} {
		h, err := ParseFile(text)
		assert.ErrorContains(t, err, want, "%.40q", text)
		assert.Empty(t, h)
	}
}

func TestParseFlag(t *testing.T) {
	for text, want := range map[string][]Host{
		"a:2,b:2":     {{Name: "a", Slots: 2}, {Name: "b", Slots: 2}},
		"a,user@b":    {{Name: "a"}, {Name: "b", User: "user"}},
		"n[1-2]:8,x":  {{Name: "n1", Slots: 8}, {Name: "n2", Slots: 8}, {Name: "x"}},
		"a,a:3":       {{Name: "a", Slots: 4}},
		"::1,[::2]:4": {{Name: "::1"}, {Name: "::2", Slots: 4}},
		"12:2,7":      {{Name: "12", Slots: 2}, {Name: "7"}},
		"[1-2]":       {{Name: "1"}, {Name: "2"}},
	} {
		h, nodes, err := ParseFlag(text)
		require.NoError(t, err, text)
		assert.Zero(t, nodes)
		assert.Equal(t, want, h.Hosts, text)
	}
	h, nodes, err := ParseFlag("4")
	require.NoError(t, err)
	assert.Equal(t, 4, nodes)
	assert.Empty(t, h.Hosts)
	for text, want := range map[string]string{
		"":                     `line 1, column 1: expected a host name, which begins with a letter or a digit, found the end`,
		"0":                    `column 1: expected a number of nodes from 1 to 65536, found "0"`,
		"65537":                `expected a number of nodes`,
		"99999999999999999999": `expected a number of nodes`,
		"a,":                   `column 3: expected a host name`,
		"a b":                  `column 2: expected ":SLOTS", a "," before the next host, or the end, found a blank`,
		"a:":                   `column 3: expected a number of slots`,
		"a slots=4":            `column 2: expected ":SLOTS"`,
		"a max":                `column 2`,
		"a:1048576,a":          `expected at most 1048576 slots for a on all its lines`,
	} {
		h, nodes, err := ParseFlag(text)
		assert.ErrorContains(t, err, want, text)
		assert.Empty(t, h)
		assert.Zero(t, nodes)
	}
}

// render writes hosts as a host file, from which ParseFile returns the same hosts.
func render(hosts []Host) string {
	var out strings.Builder
	for _, h := range hosts {
		if h.User != "" {
			out.WriteString(h.User + "@")
		}
		out.WriteString(h.Name)
		if h.Slots > 0 {
			fmt.Fprintf(&out, " slots=%d", h.Slots)
		}
		if h.Max > 0 {
			fmt.Fprintf(&out, " max_slots=%d", h.Max)
		}
		if h.Rack != "" {
			out.WriteString(" rack=" + h.Rack)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func checkHosts(t *testing.T, text string, h Hosts, err error) {
	var got []string
	for _, host := range h.Hosts {
		got = append(got, host.Name)
		require.True(t, 0 <= host.Slots && host.Slots <= SlotsMax && 0 <= host.Max && host.Max <= SlotsMax && (host.Max == 0 || host.Slots <= host.Max), "%+v", host)
		require.False(t, strings.HasPrefix(host.User, "-") || len(host.User) > NameMax)
	}
	checkBounds(t, text, got, err)
	if len(h.Hosts) == 0 || err != nil {
		return
	}
	back, err := ParseFile(render(h.Hosts))
	require.NoError(t, err)
	require.Equal(t, h.Hosts, back.Hosts)
}

func FuzzParseFile(f *testing.F) {
	for _, s := range []string{"n1 slots=4\nn2:4\n", "user@n[1-3] max_slots=2 # x", "[fe80::1%e]:4\r\n::1", "n1\nn1\n", "n1 slots = ", "n1 rack=r1 slots=2\nn2 rack = s0.s4", "\ufeffn1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseFile(text)
		checkHosts(t, text, h, err)
	})
}

func FuzzParseFlag(f *testing.F) {
	for _, s := range []string{"a:2,b:2", "4", "user@n[1-3]:2", "[::1]:4,::2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, nodes, err := ParseFlag(text)
		require.True(t, nodes == 0 || err == nil && len(h.Hosts) == 0)
		checkHosts(t, text, h, err)
	})
}
