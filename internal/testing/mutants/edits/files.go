package edits

// Files that edits of the protocols and of the machinery change. Other edits name their files
// themselves.
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

	floodFlood = "internal/protocol/flood/flood.go"

	commRules = "internal/protocol/commstate/comm.go" // of one communicator

	controlCalls   = "internal/protocol/control/calls.go"
	controlControl = "internal/protocol/control/control.go"
	controlDigest  = "internal/protocol/control/digest.go"
	controlGather  = "internal/protocol/control/gather.go"
	controlTable   = "internal/protocol/control/table.go"

	matchLife   = "internal/protocol/match/life.go"
	matchQueues = "internal/protocol/match/match.go"

	longPeer = "internal/protocol/rendezvous/peer.go"
	longRecv = "internal/protocol/rendezvous/receive.go"
	longSend = "internal/protocol/rendezvous/send.go"

	engineQuick = "internal/engine/quick.go"

	collCollect   = "internal/shm/nodecoll/collect.go"
	collCentral   = "internal/shm/nodecoll/central.go"
	collReduction = "internal/shm/nodecoll/reduction.go"
	collArrival   = "internal/shm/nodecoll/arrival.go"
	collGroup     = "internal/shm/nodecoll/group.go"

	engineGone   = "internal/engine/departures.go"
	engineArrive = "internal/engine/arrive.go"
	engineLead   = "internal/engine/lead.go"
	nodeMemory   = "internal/shm/nodemem/nodemem.go"
	engineShared = "internal/engine/shared.go"
)

// partRevoke is the name in internal/protocol/control of a frame part that carries a revocation.
const partRevoke = "commstate.PartRevoke"

// Folders of tests that several edits name.
const (
	eraFolder     = "era"
	clusterFolder = "internal/testing/sim/cluster"
	repairsFolder = "internal/testing/sim/repairs"
)
