package hostlist

import (
	"fmt"
	"strings"
)

// The expected text of errors about a bound.
var (
	manyHosts = fmt.Sprintf("at most %d hosts in all", HostsMax)
	longName  = fmt.Sprintf("a host name of at most %d bytes", NameMax)
)

// Expand returns the hosts of a list in Slurm's notation, in the order of the list:
// "n[001-003,12],gpu3" is n001, n002, n003, n12, gpu3, and "r[1-2]n[1-2]" is r1n1, r1n2, r2n1,
// r2n2. An empty list has no hosts. An error is an *Error.
func Expand(list string) ([]string, error) {
	var hosts []string
	s := &scanner{text: list, line: 1}
	for list != "" {
		names, err := s.names(HostsMax - len(hosts))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, names...)
		if s.at == len(list) {
			break
		}
		if !s.take(',') {
			return nil, s.fail(s.at, `a "," before the next host, or the end`)
		}
	}
	return hosts, nil
}

// names reads one name with any number of brackets, and returns the names in it, at most room.
// Each bracket multiplies; the last one varies fastest.
func (s *scanner) names(room int) ([]string, error) {
	from := s.at
	names := []string{""}
	for {
		text := s.while(isName)
		if len(names[0])+len(text) > NameMax { // before there are thousands of such names
			return nil, s.fail(from, longName)
		}
		for i := range names {
			names[i] += text
		}
		if s.peek() != '[' {
			break
		}
		open := s.at
		numbers, err := s.bracket(room)
		if err != nil {
			return nil, err
		}
		if len(names)*len(numbers) > room {
			return nil, s.fail(open, manyHosts)
		}
		names = product(names, numbers)
	}
	return names, s.checkNames(from, names, room)
}

// checkNames refuses names that no host can have, or that a program would take for an option.
// from is the position of the names in the text.
func (s *scanner) checkNames(from int, names []string, room int) error {
	switch {
	case len(names) > room:
		return s.fail(from, manyHosts)
	case names[0] == "" || strings.IndexByte("-.", names[0][0]) >= 0:
		return s.fail(from, "a host name, which begins with a letter or a digit")
	}
	for _, n := range names {
		if len(n) > NameMax {
			return s.fail(from, longName)
		}
	}
	return nil
}

// product joins each name with each number.
func product(names, numbers []string) []string {
	all := make([]string, 0, len(names)*len(numbers))
	for _, name := range names {
		for _, n := range numbers {
			all = append(all, name+n)
		}
	}
	return all
}

// bracket reads "[001-010,12]" and returns its numbers as text, at most room.
func (s *scanner) bracket(room int) ([]string, error) {
	s.take('[')
	var numbers []string
	for {
		var err error
		if numbers, err = s.numberRange(numbers, room); err != nil {
			return nil, err
		}
		switch {
		case s.take(']'):
			return numbers, nil
		case s.peek() == '[':
			return nil, s.fail(s.at, `"," or "]": brackets do not go into brackets`)
		case !s.take(','):
			return nil, s.fail(s.at, `"-", "," or "]" after a number in brackets`)
		}
	}
}

// numberRange reads "12" or "001-010" and appends its numbers. They have at least as many digits
// as the first one: [9-11] is 9, 10, 11, and [09-11] is 09, 10, 11.
func (s *scanner) numberRange(numbers []string, room int) ([]string, error) {
	from := s.at
	first := s.while(isDigit)
	low, ok := decimal(first)
	if !ok {
		return nil, s.fail(from, fmt.Sprintf("a number of at most %d digits in brackets", digitsMax))
	}
	high := low
	if s.take('-') {
		second := s.at
		if high, ok = decimal(s.while(isDigit)); !ok || high < low {
			return nil, s.fail(second, fmt.Sprintf("a number that is not below %s, the end of a range", first))
		}
	}
	if high-low >= room-len(numbers) {
		return nil, s.fail(from, manyHosts)
	}
	for n := low; n <= high; n++ {
		numbers = append(numbers, fmt.Sprintf("%0*d", len(first), n))
	}
	return numbers, nil
}
