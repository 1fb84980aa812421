package rendezvous

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A recorder is a Host that keeps the last frame.
type recorder struct{ got string }

func (r *recorder) Granted(from int, g Grant)       { r.got = fmt.Sprintf("%d %T %v", from, g, g) }
func (r *recorder) AskedBack(from int, w Withdraw)  { r.got = fmt.Sprintf("%d %T %v", from, w, w) }
func (r *recorder) Withdrawn(from int, w Withdrawn) { r.got = fmt.Sprintf("%d %T %v", from, w, w) }
func (r *recorder) Refused(from int, f Refuse)      { r.got = fmt.Sprintf("%d %T %v", from, f, f) }
func (r *recorder) Gone(from int, g Gone)           { r.got = fmt.Sprintf("%d %T %v", from, g, g) }

// TestHear: each kind of frame has its method, and a malformed frame has none.
func TestHear(t *testing.T) {
	for _, c := range []struct {
		frame []byte
		want  string
		err   error
	}{
		{Grant{Send: 1, Recv: 2, Limit: 3}.Append(nil), "7 rendezvous.Grant {1 2 3}", nil},
		{Withdraw{Send: 1, Number: 2}.Append(nil), "7 rendezvous.Withdraw {1 2}", nil},
		{Withdrawn{Send: 1}.Append(nil), "7 rendezvous.Withdrawn {1}", nil},
		{Refuse{Send: 1, Why: 2}.Append(nil), "7 rendezvous.Refuse {1 2}", nil},
		{Gone{Recv: 1}.Append(nil), "7 rendezvous.Gone {1}", nil},
		{[]byte{KindGrant, 1}, "", ErrMalformed},
		{[]byte{KindGone}, "", ErrMalformed},
		{append(Gone{Recv: 1}.Append(nil), 0), "", ErrMalformed},
		{[]byte{KindGone + 1}, "", ErrUnknownKind},
	} {
		var r recorder
		assert.ErrorIs(t, Hear(&r, 7, c.frame), c.err)
		assert.Equal(t, c.want, r.got, "%x", c.frame)
	}
}
