package hostlist

import "fmt"

// Counts returns the numbers of a list in Slurm's notation, one for each node in turn: "2(x3),1"
// is 2, 2, 2, 1. An empty list has none. An error is an *Error.
//
// Slurm's counts give the number of tasks on a node, not their ranks: with srun -m cyclic node 0
// of "5,1(x2)" has the ranks 0, 3, 4, 5, 6. So no caller may compute ranks from the counts.
func Counts(list string) ([]int, error) {
	var counts []int
	s := &scanner{text: list, line: 1}
	for list != "" {
		n, err := s.number(SlotsMax, "a count")
		if err != nil {
			return nil, err
		}
		times, from := 1, s.at
		if s.take('(') {
			if times, err = s.times(); err != nil {
				return nil, err
			}
		}
		if times > HostsMax-len(counts) {
			return nil, s.fail(from, fmt.Sprintf("at most %d nodes in all", HostsMax))
		}
		for range times {
			counts = append(counts, n)
		}
		if s.at == len(list) {
			break
		}
		if !s.take(',') {
			return nil, s.fail(s.at, `"(x", "," or the end after a count`)
		}
	}
	return counts, nil
}

// times reads "x3)", the number of nodes with the same count.
func (s *scanner) times() (int, error) {
	if !s.take('x') {
		return 0, s.fail(s.at, `"x" after "("`)
	}
	n, err := s.number(HostsMax, "a number of nodes")
	if err == nil && !s.take(')') {
		err = s.fail(s.at, `")" after a number of nodes`)
	}
	return n, err
}
