package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

func TestMain(m *testing.M) {
	if isChild() {
		serveChild()
		return
	}
	os.Exit(m.Run())
}

// TestKilledAndStopped: a killed and a stopped process are declared dead, through a network that
// loses and delays datagrams. The test does not check the time.
func TestKilledAndStopped(t *testing.T) {
	b, err := newBed(promised, 1)
	require.NoError(t, err)
	defer b.close()
	p := plan{known: 3, weather: faultproxy.Weather{Loss: 0.01, Delay: time.Millisecond, Jitter: 5 * time.Millisecond}}
	for _, stop := range []bool{false, true} {
		r, err := b.kill(p, stop)
		require.NoError(t, err)
		assert.True(t, r.took > 0 || r.early, "never declared: %+v", r)
	}
}

// TestNobodyDies: a live emitter sends more beats after a change of the network, and has a period.
func TestNobodyDies(t *testing.T) {
	b, err := newBed(adaptive.QoS{Detection: 4 * adaptive.Second}, 1)
	require.NoError(t, err)
	defer b.close()
	list, _, err := b.newTargets(1, 2, faultproxy.Weather{})
	defer func() { endAll(list) }()
	require.NoError(t, err)
	tr, err := list[0].trace(fair(0, 1), 3)
	require.NoError(t, err)
	require.False(t, tr.mistaken, "held for dead")
	last := tr.samples[len(tr.samples)-1]
	assert.GreaterOrEqual(t, last.beat, 3)
	assert.Positive(t, last.sent)
	assert.Positive(t, last.wanted)
}

// TestLag: only beats in a row count, and a tenth is no difference.
func TestLag(t *testing.T) {
	at := func(beat int, sent, wanted time.Duration) sample { return sample{beat, sent, wanted} }
	assert.Zero(t, lag([]sample{at(0, 100, 100), at(50, 108, 100), at(90, 100, 108)}))
	assert.Equal(t, 30, lag([]sample{at(0, 100, 100), at(10, 100, 50), at(40, 100, 50), at(41, 50, 50), at(60, 50, 100), at(70, 50, 100)}))
	assert.Equal(t, 60, lag([]sample{at(10, 100, 50), at(70, 100, 50)}), "it never follows")
	assert.Equal(t, at(210, 1, 1), after([]sample{at(0, 2, 2), at(210, 1, 1), at(300, 3, 3)}, 200))
}

// TestFollowRows: an emitter that was declared dead is reported, and left out of all figures.
func TestFollowRows(t *testing.T) {
	list := []sample{{0, 100 * time.Millisecond, 100 * time.Millisecond}, {200, 50 * time.Millisecond, 50 * time.Millisecond}}
	measured := adaptive.Network{Loss: 0.04, Variance: 1e-4}
	rows := followRows(change{"more", fair(0.05, 0)}, []trace{{samples: list, measured: measured}, {samples: list[:1], mistaken: true, late: time.Second}})
	require.Len(t, rows, 7)
	assert.Equal(t, "observer, network or emitter itself late by 1000.0 ms", rows[0].found)
	assert.Equal(t, row{"follow", "more", "period after 200 beats", "50.0 ms", "50.0 ms for what is measured then"}, rows[2])
	assert.Equal(t, row{"follow", "more", "measured at the end: loss", "4.00 %", "5.00 %"}, rows[4])
	assert.Equal(t, "10.0 ms", rows[5].found)
}

// TestAlone: in virtual time the period becomes shorter on a worse network, and gets near to the
// period of the configuration for the real network.
func TestAlone(t *testing.T) {
	a := newAlone(followed, 1)
	for range history {
		a.beat(fair(0, 2))
	}
	before := a.watch.Wanted()
	worse := fair(0.05, 2)
	assert.Less(t, a.nears(worse, predicted(worse, followed)), aloneMost)
	for range 1000 {
		a.beat(worse)
	}
	assert.Less(t, a.watch.Wanted(), before)
	assert.Len(t, aloneRows(scenarios[0][:1], 2*goal), 2)
}

// TestKillRows: a late declaration is reported with the delays of observer and network. A missing
// declaration has no time.
func TestKillRows(t *testing.T) {
	text := &strings.Builder{}
	printRows(text, killRows([]round{
		{took: 900 * time.Millisecond},
		{took: 1200 * time.Millisecond, observer: 250 * time.Millisecond, network: 3 * time.Millisecond},
		{mistaken: 1, early: true},
		{stopped: true, mistaken: 2},
	}, time.Second), true)
	assert.Equal(t, `part,of,what,found,asked or expected
kills,killed,emitters,2,
kills,killed,never declared,0,0
kills,killed,"until it is declared, median",1200.0 ms,
kills,killed,"the same, worst",1200.0 ms,1000.0 ms
kills,killed,later than that,1,0
kills,killed,of these by more than the observer itself was late,0,0
kills,killed,"one of them, after 1200.0 ms","observer itself late by 250.0 ms, network by 3.0 ms",
kills,stopped,emitters,1,
kills,stopped,never declared,1,0
kills,stopped,later than that,0,0
kills,stopped,of these by more than the observer itself was late,0,0
kills,all,declared while they lived,3,
`, text.String())
}

// TestMistakeRows: the permitted number follows from emitters, time and recurrence.
func TestMistakeRows(t *testing.T) {
	rows := mistakeRows(tally{mistakes: 3, ended: 2, length: 80 * time.Millisecond}, plan{emitters: 8, span: time.Minute})
	assert.Equal(t, row{"mistakes", "8 emitters, 1m0s", "wrong suspicions", "3", "16.0 at most"}, rows[0])
	assert.Equal(t, "40.0 ms", rows[3].found)
}

// TestLateness: the result is the longest delay that overlaps with a span, from either side.
func TestLateness(t *testing.T) {
	l, begin := &lateness{}, time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	l.note(at(100), at(130))
	l.note(at(200), at(201)) // too little to keep
	l.note(at(300), at(310))
	assert.Equal(t, 30*time.Millisecond, l.worst(at(120), at(305)))
	assert.Equal(t, 10*time.Millisecond, l.worst(at(140), at(305)))
	assert.Zero(t, l.worst(at(140), at(290)))
}

func TestParts(t *testing.T) {
	_, err := runParts(plan{}, []string{"nothing"})
	assert.Error(t, err)
}
