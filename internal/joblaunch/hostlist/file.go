package hostlist

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// byteOrderMark is the mark that some editors write in front of a text.
const byteOrderMark = "\ufeff"

// Host is a machine on which processes may be started.
type Host struct {
	Name  string // in ssh's form: a name, an IPv4 or an IPv6 address, the IPv6 address without brackets
	User  string // the login name; "" is ssh's choice
	Slots int    // number of processes planned for the host; 0: not in the text
	Max   int    // upper bound of the processes on the host; 0: not in the text
	Rack  string // hosts of one rack may fail together; "": not known
}

// Hosts is the content of a host file or a flag.
type Hosts struct {
	Hosts []Host   // in order, no host twice
	Notes []string // notes for the user on how the text was read, one line each
}

// ParseFile reads a host file. A line is empty, or has a host and its attributes:
//
//	# a comment, also behind a host
//	n1 slots=4             Open MPI's way
//	n2:4                   hydra's way, the same
//	n3 max_slots=8         or max-slots
//	n4 slots=4 rack=r1     the rack; hosts of one rack may fail together
//	n[5-7,010] slots=2     four hosts
//	user@n8                slots unknown
//	fe80::1%eth0           an IPv6 address
//	[fd00::7]:4            with slots it stands in brackets
//
// Some schedulers write one line for each process, so a host may be on several lines. Such a host
// gets the sum of the slots, where a line without slots counts 1. Its lines name one rack or
// none. A file without a host is an error. Every error is an *Error.
func ParseFile(text string) (Hosts, error) {
	var all collection
	lines := strings.Split(strings.TrimPrefix(text, byteOrderMark), "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		if err := all.fileLine(&scanner{text: line, line: i + 1}); err != nil {
			return Hosts{}, err
		}
	}
	if len(all.hosts) == 0 {
		s := scanner{line: len(lines)}
		return Hosts{}, s.fail(0, `a host, as "n1 slots=4": the file has none`)
	}
	return all.result(), nil
}

func (c *collection) fileLine(s *scanner) error {
	s.skipBlanks()
	if s.at == len(s.text) {
		return nil
	}
	names, h, err := s.hosts(c.room())
	if err != nil {
		return err
	}
	for {
		before := s.at
		s.skipBlanks()
		if s.at == len(s.text) {
			return c.add(s, names, h)
		}
		if s.at == before {
			return s.fail(s.at, `":SLOTS", a blank or the end of the line after a host`)
		}
		if err := s.attribute(&h); err != nil {
			return err
		}
	}
}

// attribute reads "slots=4", "max_slots=8" or "rack=r1", with or without blanks around the sign.
func (s *scanner) attribute(h *Host) error {
	from := s.at
	word := s.while(isName)
	var given bool
	var value func(*Host) error
	switch strings.ReplaceAll(word, "-", "_") {
	case "slots":
		given, value = h.Slots != 0, s.slots
	case "max_slots":
		given, value = h.Max != 0, s.maxSlots
	case "rack":
		given, value = h.Rack != "", s.rack
	default:
		return s.fail(from, `"slots=N", "max_slots=N", "rack=NAME" or the end of the line`)
	}
	if given {
		return s.fail(from, fmt.Sprintf("%q only once for a host", word))
	}
	s.skipBlanks()
	if !s.take('=') {
		return s.fail(s.at, fmt.Sprintf(`"=" after %q`, word))
	}
	s.skipBlanks()
	at := s.at
	if err := value(h); err != nil {
		return err
	}
	if h.Max != 0 && h.Slots > h.Max {
		return s.fail(at, "slots that are not above max_slots")
	}
	return nil
}

func (s *scanner) slots(h *Host) (err error) {
	h.Slots, err = s.number(SlotsMax, "a number of slots")
	return err
}

func (s *scanner) maxSlots(h *Host) (err error) {
	h.Max, err = s.number(SlotsMax, "a number of slots")
	return err
}

// rack reads the name of a rack up to a blank or the end of the line.
func (s *scanner) rack(h *Host) error {
	from := s.at
	h.Rack = s.while(isName)
	if h.Rack == "" || len(h.Rack) > NameMax || s.at < len(s.text) && !isBlank(s.text[s.at]) {
		return s.fail(from, fmt.Sprintf(`the name of a rack: 1 to %d letters, digits, ".", "-" or "_"`, NameMax))
	}
	return nil
}

// hosts reads "user@name:slots", where the name may have Slurm's brackets or be an IPv6 address.
// h holds the user and the slots, which apply to all names.
func (s *scanner) hosts(room int) (names []string, h Host, err error) {
	if h.User, err = s.user(); err != nil {
		return nil, h, err
	}
	from := s.at
	if names, err = s.address(); names == nil && err == nil {
		names, err = s.names(room)
	}
	if err != nil {
		return nil, h, err
	}
	if len(names) > room {
		return nil, h, s.fail(from, manyHosts)
	}
	if s.take(':') {
		h.Slots, err = s.number(SlotsMax, "a number of slots")
	}
	return names, h, err
}

// user reads "user@" if the text begins with that.
func (s *scanner) user() (string, error) {
	from := s.at
	name := s.while(isName)
	if s.peek() != '@' {
		s.at = from
		return "", nil
	}
	if name == "" || name[0] == '-' || len(name) > NameMax {
		return "", s.fail(from, `a user's name before "@"`)
	}
	s.at++
	return name, nil
}

// address reads an IPv6 address if the text begins with one: a text with two colons, or one that
// begins with a bracket and contains a colon. Otherwise address leaves the position unchanged and
// returns nil: "n1:4" and "[1-3]" are for names.
func (s *scanner) address() ([]string, error) {
	from := s.at
	open := s.take('[')
	text := s.while(func(c byte) bool { return isName(c) || c == ':' || c == '%' })
	if n := strings.Count(text, ":"); n == 0 || n == 1 && !open {
		s.at = from
		return nil, nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is6() {
		return nil, s.fail(from, `an IPv6 address, as "fd00::7" or "[fd00::7]:SLOTS"`)
	}
	if open && !s.take(']') {
		return nil, s.fail(s.at, `"]" after an IPv6 address`)
	}
	return []string{text}, nil
}

// collection gathers hosts. A host that comes again is merged with its first mention.
type collection struct {
	hosts []Host
	lines []int          // of each host, its number of mentions
	place map[string]int // of user@name in hosts; never iterated
	named int            // hosts of the text, with repeated ones: the bound of the work
}

func (c *collection) room() int { return HostsMax - c.named }

func (c *collection) add(s *scanner, names []string, h Host) error {
	if c.place == nil {
		c.place = map[string]int{}
	}
	c.named += len(names)
	for _, name := range names {
		h.Name = name
		at, again := c.place[h.User+"@"+name]
		if !again {
			c.place[h.User+"@"+name] = len(c.hosts)
			c.hosts, c.lines = append(c.hosts, h), append(c.lines, 1)
			continue
		}
		if err := c.merge(s, at, h); err != nil {
			return err
		}
	}
	return nil
}

// merge adds a further mention of a host to the first one.
func (c *collection) merge(s *scanner, at int, h Host) error {
	old := &c.hosts[at]
	slots := max(old.Slots, 1) + max(h.Slots, 1)
	most := max(old.Max, h.Max)
	if slots > SlotsMax || most != 0 && slots > most {
		return s.fail(0, fmt.Sprintf("at most %d slots for %s on all its lines", cmp.Or(most, SlotsMax), h.Name))
	}
	if old.Rack != "" && h.Rack != "" && old.Rack != h.Rack {
		return s.fail(0, fmt.Sprintf("rack=%s for %s on all its lines, or no rack", old.Rack, h.Name))
	}
	old.Slots, old.Max, old.Rack = slots, most, cmp.Or(old.Rack, h.Rack)
	c.lines[at]++
	return nil
}

func (c *collection) result() Hosts {
	h := Hosts{Hosts: slices.Clip(c.hosts)}
	for i, host := range c.hosts {
		if n := c.lines[i]; n > 1 {
			h.Notes = append(h.Notes, fmt.Sprintf("%s is named %d times: taken as one host with %d slots", host.Name, n, host.Slots))
		}
	}
	return h
}
