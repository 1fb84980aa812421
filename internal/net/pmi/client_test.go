package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	askInit   = "cmd=init pmi_version=1 pmi_subversion=1"
	askPut    = "cmd=put kvsname=2.0 key=card-3 value=c0ffee"
	askGet    = "cmd=get kvsname=2.0 key=card-1"
	askLimits = "cmd=get_maxes"
	askName   = "cmd=get_my_kvsname"
	isName    = "cmd=my_kvsname rc=0 kvsname=2.0"
)

// slurm and hydra are the answers of Slurm 24.11 and hydra 4.2.
var (
	slurm = []string{
		askInit, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 ",
		askLimits, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
		askName, isName,
		askPut, "cmd=put_result rc=0",
		"cmd=barrier_in", "cmd=barrier_out rc=0",
		askGet, "cmd=get_result rc=0 value=f00d",
		"cmd=get kvsname=2.0 key=none", "cmd=get_result rc=1",
		"cmd=finalize", "cmd=finalize_ack rc=0",
	}
	hydra = []string{
		askInit, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
		askLimits, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
		askName, "cmd=my_kvsname kvsname=2.0",
		askPut, "cmd=put_result rc=0 msg=success",
		"cmd=barrier_in", "cmd=barrier_out",
		askGet, "cmd=get_result rc=0 msg=success value=f00d",
		"cmd=get kvsname=2.0 key=none", "cmd=get_result rc=-1 msg=key_none_not_found value=unknown",
		"cmd=finalize", "cmd=finalize_ack",
	}
)

// session makes all calls once and checks their results.
func session(ctx context.Context, t *testing.T, c *Client) {
	t.Helper()
	require.NoError(t, c.Init(ctx))
	l, err := c.Limits(ctx)
	require.NoError(t, err)
	assert.Equal(t, Limits{256, 64, 1024}, l)
	name, err := c.KVSName(ctx)
	require.NoError(t, err)
	assert.Equal(t, "2.0", name)
	require.NoError(t, c.Put(ctx, "card-3", "c0ffee"))
	require.NoError(t, c.Barrier(ctx))
	value, err := c.Get(ctx, "card-1")
	require.NoError(t, err)
	assert.Equal(t, "f00d", value)
	_, err = c.Get(ctx, "none")
	require.ErrorIs(t, err, ErrNoKey)
	require.NoError(t, c.Finalize(ctx))
	assert.ErrorContains(t, c.Barrier(ctx), "PMI barrier_in: not asked, after: finalize")
	_, err = c.conn.Write([]byte("x"))
	assert.Error(t, err, "Finalize closes")
}

func TestSession(t *testing.T) {
	for name, lines := range map[string][]string{"slurm": slurm, "hydra": hydra} {
		t.Run(name, func(t *testing.T) {
			against(t, answers(lines...), false, func(t *testing.T, ctx context.Context, c *Client) {
				session(ctx, t, c)
				rank, size := c.World()
				assert.Equal(t, []int{Unknown, Unknown}, []int{rank, size})
			})
		})
	}
}

// TestSplitPaddedDelayed: the same session, with each answer in single bytes, with padding around
// it, and just in time.
func TestSplitPaddedDelayed(t *testing.T) {
	for name, change := range map[string]func(*step){
		"split": func(s *step) { s.send = bytesOf(s.send[0]) },
		"padded": func(s *step) {
			s.send = []string{"\x00\x00 \r\n" + strings.ReplaceAll(s.send[0], " ", " \x00 ") + "\x00 \n\n"}
		},
		"delayed": func(s *step) { s.wait = RequestTimeout - 1 },
		"all":     func(s *step) { s.send, s.wait = bytesOf(" \x00"+s.send[0]), RequestTimeout/2 },
	} {
		t.Run(name, func(t *testing.T) {
			steps := answers(slurm...)
			for i := range steps {
				change(&steps[i])
			}
			against(t, steps, false, func(t *testing.T, ctx context.Context, c *Client) { session(ctx, t, c) })
		})
	}
}

// TestPort: at PMI_PORT the server reports rank and size before init.
func TestPort(t *testing.T) {
	ack := "cmd=initack pmiid=3"
	for name, c := range map[string]struct {
		send []string
		want string
	}{
		"lines":     {[]string{"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n"}, ""},
		"split":     {bytesOf("cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n"), ""},
		"no rank":   {[]string{"cmd=initack\ncmd=set size=4\ncmd=set x=3\ncmd=set debug=0\n"}, `set with rank="" instead of a number`},
		"no size":   {[]string{"cmd=initack\ncmd=set size=0\ncmd=set rank=3\ncmd=set debug=0\n"}, `set with size="0" instead of a number`},
		"rank size": {[]string{"cmd=initack\ncmd=set size=3\ncmd=set rank=3\ncmd=set debug=0\n"}, "rank 3 of 3"},
		"refused":   {[]string{"cmd=initack rc=-1 msg=who are you\n"}, "the PMI server refuses: rc=-1 who are you"},
		"other":     {[]string{"cmd=initack\ncmd=maxes\n"}, `"cmd=maxes" instead of cmd=set`},
		"ends":      {[]string{"cmd=initack\n"}, "the server has closed the connection"},
		"not it":    {[]string{"HTTP/1.1 400 Bad Request\n"}, `"HTTP/1.1 400 Bad Request" does not begin with cmd=`},
		"bad rc":    {[]string{"cmd=initack rc=x\n"}, `initack with rc="x"`},
	} {
		t.Run(name, func(t *testing.T) {
			steps := []step{{want: ack, send: c.send}}
			if c.want == "" {
				steps = append(steps, answers(slurm...)...)
			}
			against(t, steps, false, func(t *testing.T, ctx context.Context, client *Client) {
				client.id = "3"
				if c.want == "" {
					session(ctx, t, client)
					rank, size := client.World()
					assert.Equal(t, []int{3, 4}, []int{rank, size})
					return
				}
				err := client.Init(ctx)
				require.ErrorContains(t, err, "PMI initack: ")
				assert.ErrorContains(t, err, c.want)
				assert.ErrorContains(t, client.Init(ctx), "PMI initack: not asked, after: PMI initack: ")
			})
		})
	}
}

// TestBadAnswers: each is an error of ErrProtocol that shows the line, and after it the client
// sends no further request.
func TestBadAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		"cmd=maxes rc=0\n":                        `"cmd=maxes rc=0" instead of cmd=barrier_out`,
		"barrier_out\n":                           `"barrier_out" does not begin with cmd=`,
		"cmd= rc=0\n":                             "does not begin with cmd=",
		"rc=0 cmd=barrier_out\n":                  "does not begin with cmd=",
		"cmd=barrier_out rc=zero\n":               `barrier_out with rc="zero"`,
		"cmd=barrier_out word\n":                  `"word" in "cmd=barrier_out word"`,
		"cmd=barrier_out =x\n":                    `"=x" in`,
		"cmd=barrier_out msg=\x1b[2J\n":           `byte 0x1b in "cmd=barrier_out msg=\x1b[2J"`,
		"cmd=barrier_out msg=ü\n":                 "byte 0xc3",
		"    22cmd=barrier_out;rc=0;\n":           "does not begin with cmd=",
		strings.Repeat("x", AnswerMax+1):          `a line of more than 2047 bytes: "xxx`,
		strings.Repeat("\n", AnswerMax+1):         "more than 2047 bytes of empty lines",
		strings.Repeat(" \x00\n", AnswerMax) + "": "more than 2047 bytes of empty lines",
	} {
		steps := []step{{want: "cmd=barrier_in", send: []string{answer}}}
		against(t, steps, true, func(t *testing.T, ctx context.Context, c *Client) {
			err := c.Barrier(ctx)
			require.ErrorIs(t, err, ErrProtocol, "%.40q", answer)
			assert.ErrorContains(t, err, "PMI barrier_in: not an answer of a PMI-1 server: ")
			assert.ErrorContains(t, err, want)
			assert.ErrorContains(t, err, "is PMI_FD or PMI_PORT set by hand")
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "\x1b")
			assert.ErrorContains(t, c.Init(ctx), "PMI init: not asked, after: PMI barrier_in: ")
		})
	}
}

// TestLongestAnswer: an answer of AnswerMax bytes is read.
func TestLongestAnswer(t *testing.T) {
	line := "cmd=barrier_out msg="
	line += strings.Repeat("x", AnswerMax-len(line))
	against(t, []step{{want: "cmd=barrier_in", send: []string{line[:1000], line[1000:], "\n"}}}, false, func(t *testing.T, ctx context.Context, c *Client) {
		assert.NoError(t, c.Barrier(ctx))
	})
}

// TestUnasked: an extra answer would be taken for the answer to the next request.
func TestUnasked(t *testing.T) {
	steps := []step{{want: "cmd=barrier_in", send: []string{"cmd=barrier_out rc=0\ncmd=barrier_out rc=0\n"}}}
	against(t, steps, true, func(t *testing.T, ctx context.Context, c *Client) {
		require.NoError(t, c.Barrier(ctx))
		err := c.Barrier(ctx)
		require.ErrorIs(t, err, ErrProtocol)
		assert.ErrorContains(t, err, `PMI barrier_in: not an answer of a PMI-1 server: "cmd=barrier_out rc=0\n", which nobody has asked for`)
	})
}

// TestHangs: a server that sends nothing, or half of a line, or bytes now and then.
func TestHangs(t *testing.T) {
	half := "cmd=response_to_init rc=0"
	for name, steps := range map[string][]step{
		"silent": {{want: askInit}},
		"half":   {{want: askInit, send: []string{half}}},
		"slow":   {{want: askInit, send: []string{"c"}, wait: RequestTimeout / 2}, {send: []string{"m"}, wait: RequestTimeout / 3}, {send: []string{"d"}, wait: RequestTimeout}},
		"late":   {{want: askInit, send: []string{half + " pmi_version=1\n"}, wait: RequestTimeout + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			against(t, steps, true, func(t *testing.T, ctx context.Context, c *Client) {
				begin := time.Now()
				err := c.Init(ctx)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				assert.ErrorContains(t, err, "PMI init: no answer within 30s: i/o timeout: the engine's process on this node")
				assert.Equal(t, RequestTimeout, time.Since(begin))
				_, err = c.Limits(ctx)
				assert.ErrorContains(t, err, "PMI get_maxes: not asked, after: PMI init: no answer within 30s")
			})
		})
	}
}

// TestBarrierDeadline: a barrier that others do not enter ends with its context, or after
// BarrierTimeout.
func TestBarrierDeadline(t *testing.T) {
	stopped := errors.New("the daemon says stop")
	for name, c := range map[string]struct {
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		after time.Duration
		cause error
		want  string
	}{
		"none": {func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
			BarrierTimeout, os.ErrDeadlineExceeded, "PMI barrier_in: no answer within 1m0s: i/o timeout: the PMI server (hydra_pmi_proxy, slurmstepd) has not ended its barrier"},
		"shorter": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
			time.Second, context.DeadlineExceeded, "PMI barrier_in: given up: context deadline exceeded: the PMI server"},
		"longer": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
			time.Hour, context.DeadlineExceeded, "given up: context deadline exceeded"},
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(5*time.Second, func() { cancel(stopped) })
			return ctx, func() { cancel(nil) }
		}, 5 * time.Second, stopped, "PMI barrier_in: given up: the daemon says stop"},
	} {
		t.Run(name, func(t *testing.T) {
			against(t, []step{{want: "cmd=barrier_in"}}, true, func(t *testing.T, ctx context.Context, client *Client) {
				begin := time.Now()
				ctx, cancel := c.ctx(ctx)
				defer cancel()
				err := client.Barrier(ctx)
				require.ErrorIs(t, err, c.cause)
				assert.ErrorContains(t, err, c.want)
				assert.Equal(t, c.after, time.Since(begin))
			})
		})
	}
}

// TestLateCancellation: a context that ends when its call is over does not touch the next call.
func TestLateCancellation(t *testing.T) {
	against(t, answers("cmd=barrier_in", "cmd=barrier_out", "cmd=barrier_in", "cmd=barrier_out"), false, func(t *testing.T, ctx context.Context, c *Client) {
		first, cancel := context.WithCancel(ctx)
		require.NoError(t, c.Barrier(first))
		cancel()
		synctest.Wait()
		require.NoError(t, c.Barrier(ctx))
	})
	// The context ends between the answer and the return of the call, and its effect is slow. The
	// second answer takes longer still:
	//
	//	0 s  the first answer; its context ends    1 s  the deadline is moved to the past
	//	                                           4 s  the second answer
	steps := answers("cmd=barrier_in", "cmd=barrier_out", "cmd=barrier_in", "cmd=barrier_out")
	steps[1].wait = 3 * time.Second
	against(t, steps, false, func(t *testing.T, ctx context.Context, c *Client) {
		first, cancel := context.WithCancel(ctx)
		slow := &slowConn{Conn: c.conn, read: cancel}
		c.conn, c.lines.from = slow, slow
		require.NoError(t, c.Barrier(first))
		require.NoError(t, c.Barrier(ctx))
	})
	against(t, nil, true, func(t *testing.T, ctx context.Context, c *Client) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		assert.ErrorIs(t, c.Barrier(ctx), context.Canceled, "a context that has ended before")
	})
}

// TestCloses: the server closes before a request, without an answer, within an answer.
func TestCloses(t *testing.T) {
	for name, steps := range map[string][]step{
		"before":  nil,
		"instead": {{want: askInit}},
		"within":  {{want: askInit, send: []string{"cmd=respo"}}},
	} {
		t.Run(name, func(t *testing.T) {
			against(t, steps, false, func(t *testing.T, ctx context.Context, c *Client) {
				if name == "before" {
					synctest.Wait()
				}
				err := c.Init(ctx)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				assert.ErrorContains(t, err, "PMI init: the server has closed the connection")
				assert.ErrorContains(t, err, "start each program with an mpiexec or srun of its own")
				assert.Error(t, c.Finalize(ctx), "nobody was there to finalize")
			})
		})
	}
	against(t, []step{{want: "cmd=finalize"}}, false, func(t *testing.T, ctx context.Context, c *Client) {
		assert.NoError(t, c.Finalize(ctx), "a server that closes has understood")
	})
}

// TestRefusals: a refusal leaves the client unchanged.
func TestRefusals(t *testing.T) {
	steps := answers(askInit, "cmd=response_to_init rc=-1 msg=try again later", askInit, "cmd=response_to_init rc=0",
		askName, isName, askPut, "cmd=put_result rc=-1 msg=duplicate_key", "cmd=barrier_in", "cmd=barrier_out rc=0",
		askGet, "cmd=get_result rc=0 found=FALSE", askGet, "cmd=get_result found=TRUE value=f00d", askGet, "cmd=get_result rc=0")
	against(t, steps, false, func(t *testing.T, ctx context.Context, c *Client) {
		err := c.Init(ctx)
		require.ErrorIs(t, err, ErrRefused)
		assert.EqualError(t, err, "PMI init: the PMI server refuses: rc=-1 try again later")
		require.NoError(t, c.Init(ctx))
		_, err = c.KVSName(ctx)
		require.NoError(t, err)
		assert.ErrorContains(t, c.Put(ctx, "card-3", "c0ffee"), "PMI put: the PMI server refuses: rc=-1 duplicate_key")
		require.NoError(t, c.Barrier(ctx))
		_, err = c.Get(ctx, "card-1")
		require.ErrorIs(t, err, ErrNoKey)
		value, err := c.Get(ctx, "card-1")
		require.NoError(t, err)
		assert.Equal(t, "f00d", value)
		_, err = c.Get(ctx, "card-1")
		assert.ErrorContains(t, err, "get_result without a value")
		_, err = c.Get(ctx, "card-1")
		assert.ErrorContains(t, err, "PMI get: not asked, after: PMI get: ")
		_, err = c.KVSName(ctx)
		assert.ErrorContains(t, err, "PMI get_my_kvsname: not asked")
	})
}

func TestOtherServers(t *testing.T) {
	against(t, answers(askInit, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0"), true, func(t *testing.T, ctx context.Context, c *Client) {
		assert.ErrorContains(t, c.Init(ctx), "PMI init: not an answer of a PMI-1 server: it speaks version 2: PMI-1 is what is spoken here")
		assert.ErrorContains(t, c.Init(ctx), "not asked")
	})
	against(t, answers(askLimits, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64"), true, func(t *testing.T, ctx context.Context, c *Client) {
		_, err := c.Limits(ctx)
		assert.ErrorContains(t, err, `maxes with vallen_max="" instead of a number`)
	})
	for _, name := range []string{"", "a;b", strings.Repeat("k", 256)} {
		against(t, answers(askName, "cmd=my_kvsname kvsname="+name), true, func(t *testing.T, ctx context.Context, c *Client) {
			_, err := c.KVSName(ctx)
			assert.ErrorIs(t, err, ErrProtocol)
		})
	}
}

// TestBadArguments: an argument that a server would misread is not sent.
func TestBadArguments(t *testing.T) {
	steps := answers(askLimits, "cmd=maxes kvsname_max=900 keylen_max=9 vallen_max=1024", askName, "cmd=my_kvsname kvsname="+strings.Repeat("k", 800))
	against(t, steps, true, func(t *testing.T, ctx context.Context, c *Client) {
		assert.ErrorContains(t, c.Put(ctx, "k", "v"), "PMI put: KVSName comes first: change the program")
		_, err := c.Get(ctx, "k")
		assert.ErrorContains(t, err, "KVSName comes first")
		_, err = c.Limits(ctx)
		require.NoError(t, err)
		_, err = c.KVSName(ctx)
		require.NoError(t, err)
		for _, key := range []string{"", "a b", "a=b", "a;b", `a\b`, "a\nb", "ä", "PMI_x", "123456789"} {
			assert.ErrorContains(t, c.Put(ctx, key, "v"), "the key ", key)
		}
		for _, value := range []string{"", "a b", "a\n", "a\x00", strings.Repeat("v", 1024)} {
			assert.ErrorContains(t, c.Put(ctx, "k", value), "the value ", value)
		}
		assert.ErrorContains(t, c.Put(ctx, "k", strings.Repeat("v", 200)), "a request of 1029 bytes, and servers take 1023")
		_, err = c.Get(ctx, "a b")
		assert.Error(t, err)
	})
}

// TestLongestRequest: a line of LineMax bytes is sent, one more byte is not.
func TestLongestRequest(t *testing.T) {
	head := "cmd=put kvsname=2.0 key=k value="
	value := strings.Repeat("v", LineMax-len(head))
	against(t, answers(askName, isName, head+value, "cmd=put_result"), true, func(t *testing.T, ctx context.Context, c *Client) {
		_, err := c.KVSName(ctx)
		require.NoError(t, err)
		assert.NoError(t, c.Put(ctx, "k", value))
		assert.ErrorContains(t, c.Put(ctx, "kk", value), "a request of 1024 bytes")
	})
}

// TestAbort: also while another goroutine is in a barrier.
func TestAbort(t *testing.T) {
	steps := []step{{want: "cmd=barrier_in"}, {want: "cmd=abort exitcode=3 message=rank_2_is_dead__x___" + strings.Repeat("y", 180)}}
	against(t, steps, false, func(t *testing.T, ctx context.Context, c *Client) {
		waits := make(chan error)
		go func() { waits <- c.Barrier(ctx) }()
		synctest.Wait()
		require.NoError(t, c.Abort(3, "rank 2 is dead\n\x00x=;\\"+strings.Repeat("y", 300)))
		assert.ErrorIs(t, <-waits, io.ErrUnexpectedEOF)
		assert.ErrorContains(t, c.Abort(3, ""), "PMI abort: ")
	})
	against(t, []step{{want: "cmd=abort exitcode=1 message=abort"}}, false, func(t *testing.T, ctx context.Context, c *Client) {
		require.NoError(t, c.Abort(1, ""))
	})
	against(t, nil, true, func(t *testing.T, ctx context.Context, c *Client) {
		begin := time.Now()
		assert.ErrorIs(t, c.Abort(1, "nobody reads"), os.ErrDeadlineExceeded)
		assert.Equal(t, RequestTimeout, time.Since(begin))
	})
}

func TestErrorText(t *testing.T) {
	assert.Equal(t, "PMI get: no such key", (&Error{"get", ErrNoKey, ""}).Error())
	w := waiting{ctx: context.Background(), limit: 1}
	other := fmt.Errorf("something else")
	assert.EqualError(t, w.explain("get", other), "PMI get: something else: the engine's own messages may say more")
}
