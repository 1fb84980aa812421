package edits

// The files that are changed. One that moves is named here and nowhere else.
const (
	eraAgreement = "era/agreement.go"
	eraSeries    = "era/series.go"
	eraCluster   = "era/cluster_test.go"
	eraPaper     = "era/paper.go" // comes with A23 only

	nodeDecide = "era/onenode/decide.go"
	nodeLine   = "era/onenode/line.go"
	nodeSeries = "era/onenode/series.go"

	fdDetector = "fd/detector.go"
	fdRing     = "fd/ring.go"
	fdRhythm   = "fd/rhythm.go"
	fdObserve  = "fd/observation.go"
	fdSuspect  = "fd/suspect.go"

	floodFlood = "internal/flood/flood.go"

	commRules = "internal/member/comm.go" // of one communicator

	controlCalls   = "internal/control/calls.go"
	controlControl = "internal/control/control.go"
	controlDigest  = "internal/control/digest.go"
	controlGather  = "internal/control/gather.go"
	controlTable   = "internal/control/table.go"

	matchLife   = "internal/match/life.go"
	matchQueues = "internal/match/match.go"

	longPeer = "internal/rendezvous/peer.go"
	longRecv = "internal/rendezvous/receive.go"
	longSend = "internal/rendezvous/send.go"

	engineQuick = "internal/engine/quick.go"

	collCollect   = "internal/nodecoll/collect.go"
	collCentral   = "internal/nodecoll/central.go"
	collReduction = "internal/nodecoll/reduction.go"
	collArrival   = "internal/nodecoll/arrival.go"
	collGroup     = "internal/nodecoll/group.go"

	engineGone   = "internal/engine/departures.go"
	engineArrive = "internal/engine/arrive.go"
	engineLead   = "internal/engine/lead.go"
	nodeMemory   = "internal/nodemem/nodemem.go"
	engineShared = "internal/engine/shared.go"
)

// partRevoke is how internal/control writes the part of a revocation.
const partRevoke = "member.PartRevoke"

// The folders whose tests find bugs of others.
const (
	eraFolder = "era"
	simFolder = "internal/sim"
)
