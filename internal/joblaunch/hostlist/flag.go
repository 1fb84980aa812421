package hostlist

import "strings"

// ParseFlag reads the value of --host: hosts with commas between, such as "a:2,user@b" or
// "n[1-4]:8", or one number alone, such as "4". A number asks for that many nodes on this machine
// and gives no hosts. An error is an *Error.
func ParseFlag(text string) (hosts Hosts, nodes int, err error) {
	s := &scanner{text: text, line: 1}
	if text != "" && strings.Trim(text, "0123456789") == "" {
		nodes, err = s.number(HostsMax, "a number of nodes")
		return Hosts{}, nodes, err
	}
	var all collection
	for {
		names, h, err := s.hosts(all.room())
		if err == nil {
			err = all.add(s, names, h)
		}
		switch {
		case err != nil:
			return Hosts{}, 0, err
		case s.at == len(text):
			return all.result(), 0, nil
		case !s.take(','):
			return Hosts{}, 0, s.fail(s.at, `":SLOTS", a "," before the next host, or the end`)
		}
	}
}
