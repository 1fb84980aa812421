package ckptfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// decodeHead decodes a head. It allocates at most 20 times the length of the text, garbage included
// (TestHostileHead). Without the bounds of members and runs below, encoding/json allocates up to
// 300 times the length. In {"members":[{},{},...]} three bytes of text become a Member of 88 bytes,
// and a slice that grows leaves several times its length behind.
func decodeHead(text []byte) (Head, error) {
	var h struct {
		Head
		Members members `json:"members"` // in place of Head.Members
	}
	err := json.Unmarshal(text, &h)
	h.Head.Members = h.Members
	return h.Head, err
}

// Errors about forms of a head that the writer never produces. They are variables because
// encoding/json continues after an error of UnmarshalJSON: a text of repeated fields may cause one
// error for every few bytes.
var (
	errMembers = errors.New("members that are no array, or two arrays of members")
	errRuns    = errors.New("runs that are not pairs of numbers")
)

// members decodes the members of a head one by one, and stops after MembersMax and at the first
// error.
type members []Member

// UnmarshalJSON implements json.Unmarshaler.
func (m *members) UnmarshalJSON(b []byte) error {
	switch {
	case *m != nil || b[0] != '[' && b[0] != 'n':
		return errMembers
	case b[0] == 'n': // null
		return nil
	}
	*m = members{}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		if len(*m) == MembersMax {
			return fmt.Errorf("more than %d members", MembersMax)
		}
		var next struct {
			Member
			Runs runs `json:"runs"` // in place of Member.Runs
		}
		if err := d.Decode(&next); err != nil {
			return err
		}
		next.Member.Runs = next.Runs
		*m = append(*m, next.Member)
	}
	return nil
}

// runs decodes the runs of a member into memory of exactly their number.
type runs [][2]int

// UnmarshalJSON implements json.Unmarshaler. It accepts only the output of json.Marshal, which has
// no spaces.
func (r *runs) UnmarshalJSON(b []byte) error {
	*r = nil
	switch string(b) {
	case "null":
		return nil
	case "[]":
		*r = runs{}
		return nil
	}
	b, opened := bytes.CutPrefix(b, []byte("[["))
	b, closed := bytes.CutSuffix(b, []byte("]]"))
	if !opened || !closed {
		return errRuns
	}
	between := []byte("],[")
	all := make(runs, 0, bytes.Count(b, between)+1)
	for pair := range bytes.SplitSeq(b, between) {
		start, count, _ := bytes.Cut(pair, []byte(","))
		first, errFirst := strconv.Atoi(string(start))
		second, errSecond := strconv.Atoi(string(count))
		if errFirst != nil || errSecond != nil {
			return errRuns
		}
		all = append(all, [2]int{first, second})
	}
	*r = all
	return nil
}
