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

// cluster returns the hunt in whole clusters, whose processes are notified of deaths and agree
// by messages.
func cluster(breaks ...string) Hunt { return Hunt{Arena: "cluster", Breaks: breaks} }

// detectors returns the hunt in worlds of detectors alone: some schedules are rare in a cluster.
func detectors(breaks ...string) Hunt { return Hunt{Arena: "detectors", Breaks: breaks} }

// matching returns the hunt in worlds of matchers alone.
func matching(breaks ...string) Hunt { return Hunt{Arena: "matching", Breaks: breaks} }
