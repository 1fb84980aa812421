package edits

import "slices"

// Canary names the bug that every run must find.
const Canary = "canary"

// All returns the edits, the canary first.
func All() []Edit {
	return slices.Concat(
		agreementBugs(),
		revocationBugs(),
		compositionBugs(),
		clusterDetectorBugs(),
		floodBugs(),
		detectorBugs(),
		matchingBugs(),
		longBugs(),
		nodeBugs(),
		twoLevelBugs(),
		unreachedBugs(),
		machineryBugs(),
		adaptiveDetector(),
		ringWithQuality(),
		components(),
		agents(),
		beats(),
		reports(),
		calls(),
		holdBugs(),
		nodes(),
		acrossNodes(),
		worlds(),
		repairs(),
		versions(),
		replacement(),
		windows(),
		windowsAway(),
		partings(),
		wakes(),
		outliving(),
		inFiles(),
		unseen(),
		keeping(),
		processes(),
		mixedBuilds(),
		hosts(),
	)
}

// cluster says that whole clusters, whose processes are told of deaths and agree by
// messages, find a bug.
func cluster(breaks ...string) Hunt { return Hunt{Arena: "cluster", Breaks: breaks} }

// detectors says that detectors alone find a bug: in a cluster some schedules are rare.
func detectors(breaks ...string) Hunt { return Hunt{Arena: "detectors", Breaks: breaks} }

// matching says that matchers alone find a bug.
func matching(breaks ...string) Hunt { return Hunt{Arena: "matching", Breaks: breaks} }
