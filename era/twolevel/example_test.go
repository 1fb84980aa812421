package twolevel_test

import (
	"fmt"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/era/twolevel"
)

// Four members on two nodes agree; the work of their host is a loop here.
func Example() {
	nodes := [][]int{{0, 1}, {2, 3}}
	const tag = 1
	var members []*twolevel.Series
	for _, ranks := range nodes {
		heap := onenode.NewHeap(1, nil) // the memory of one node
		heap.Prepare(ranks[0], tag, 1)
		for i, me := range ranks {
			members = append(members, twolevel.NewSeries(twolevel.Config{
				N: 4, Me: me, Nodes: nodes, Tag: tag,
				Memory: heap.Open(onenode.Sharing{Procs: ranks, Indices: []uint32{tag, tag}, Me: i}),
			}))
		}
	}
	var carryOut func(me int, acts []era.Action)
	carryOut = func(me int, acts []era.Action) {
		for _, a := range append([]era.Action(nil), acts...) {
			switch a := a.(type) {
			case era.Send:
				fmt.Println(me, "sends to", a.To)
				carryOut(a.To, members[a.To].Step(twolevel.Receive{From: me, Seq: a.Seq, Msg: a.Msg}))
			case era.Decide:
				fmt.Println(me, "decides", a.Value.Flag)
			}
		}
	}
	for me, m := range members {
		v := era.Value{Flag: 0b1111 &^ (1 << me), Lo: era.Claim{Rank: me}, Hi: era.Claim{Rank: me}}
		carryOut(me, m.Step(twolevel.Propose{Value: v}))
	}
	for round := range 2 { // the memory has moved
		for me, m := range members {
			if round == 0 || m.Open() > 0 {
				carryOut(me, m.Step(twolevel.Look{}))
			}
		}
	}
	// Output:
	// 2 sends to 0
	// 0 sends to 2
	// 2 decides 0
	// 0 decides 0
	// 3 decides 0
	// 1 decides 0
}
