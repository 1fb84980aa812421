package gridrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// sample has what arguments usually have.
type sample struct {
	Whole int
	Text  string
	Raw   []byte
	Named map[string]int64
	Below *sample
}

// FuzzDecode: any bytes are refused as ErrCodec, or are a value that can be sent on.
func FuzzDecode(f *testing.F) {
	for _, c := range []Codec{Gob, JSON} {
		data, err := encode(c, &sample{Whole: 1, Text: "x", Raw: []byte{1}, Named: map[string]int64{"a": 1}, Below: &sample{}})
		assert.NoError(f, err)
		f.Add(data, c == JSON)
	}
	f.Add([]byte(`{"Whole":"one"}`), true)
	f.Add([]byte(`{"Wole":1}`), true)
	f.Add([]byte(`{} {}`), true)
	f.Fuzz(func(t *testing.T, data []byte, isJSON bool) {
		c := Gob
		if isJSON {
			c = JSON
		}
		var first, second sample
		if err := decode(c, data, &first); err != nil {
			assert.ErrorIs(t, err, ErrCodec)
			return
		}
		again, err := encode(c, &first)
		assert.NoError(t, err)
		assert.NoError(t, decode(c, again, &second))
		third, err := encode(c, &second)
		assert.NoError(t, err)
		assert.Len(t, third, len(again))
	})
}

// FuzzCallID: any text is refused, or names a call.
func FuzzCallID(f *testing.F) {
	for _, text := range []string{"", "0", callText(session.CallID{1, 2}), "zz", callText(session.CallID{}) + "00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := parseCallID(text); err == nil {
			assert.Equal(t, strings.ToLower(text), callText(id))
		}
	})
}

// FuzzFound: any answer of a master is refused, or is a place of the call that was asked for.
func FuzzFound(f *testing.F) {
	id := session.CallID{7}
	for _, k := range []*pb.Kept{{Call: id[:], Attempt: 1, Server: &pb.Ref{Name: "s1", Addr: "x"}}, {Call: id[:]}, {Attempt: 1}} {
		data, err := proto.Marshal(k)
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var k pb.Kept
		if proto.Unmarshal(data, &k) == nil && usable(&k, id) {
			assert.Equal(t, id[:], k.Call)
			rule := session.New(session.Config{})
			rule.Step(session.Found{Server: serverOf(k.Server), Attempt: k.Attempt})
			assert.Equal(t, k.Attempt, rule.Attempt())
		}
	})
}

// FuzzSubmit: any first frame is refused for a reason, or names a call that the desk can take.
func FuzzSubmit(f *testing.F) {
	for _, m := range []*pb.Submit{
		{Call: make([]byte, 16), Attempt: 1, Service: "square", Codec: "gob", Size: 3},
		{Call: make([]byte, 15), Attempt: 1, Service: "square"},
		{Call: make([]byte, 16), Attempt: 0, Service: "square"},
		{Call: make([]byte, 16), Attempt: 1, Service: "none", Size: 1 << 40},
		{Call: make([]byte, 16), Attempt: 1, Service: "square", Keep: -1},
	} {
		data, err := proto.Marshal(&pb.CallFrame{Kind: &pb.CallFrame_Submit{Submit: m}})
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame pb.CallFrame
		if proto.Unmarshal(data, &frame) != nil {
			return
		}
		s := &Server{services: map[string]*service{"square": {name: "square"}}, desk: session.Desk{Places: 1}}
		m := frame.GetSubmit()
		why, text := s.examine(m)
		if why != 0 {
			assert.NotEmpty(t, text)
			return
		}
		assert.NotZero(t, m.Attempt)
		assert.LessOrEqual(t, m.Size, uint64(argumentMax))
		assert.NotNil(t, s.services[m.Service])
		assert.LessOrEqual(t, m.Keep, int64(keepMax))
		s.desk.Submit(session.CallID(m.Call), m.Attempt, m.Incarnation, m.Attach)
	})
}
