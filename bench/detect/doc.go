// Command detect takes the figures of detection between the nodes of a job (D1 to D8, D10), with
// real daemons on this machine. The figures of two papers stand beside them: Zhong et al., General
// Failure Detection and Propagation in HPC and Distributed Systems, PARCO 2019 (RDAEMON#), and
// Bosilca et al., SC 2016 (the detector of ULFM).
//
//	go run ./bench/detect -figure D1                 from a death until the first, or all, know
//	go run ./bench/detect -figure D3 -runs 20        is every detection within its bounds?
//	go run ./bench/detect -figure D5,D6 -seconds 60  the least period without a false positive
//	go run ./bench/detect -figure D10                the loss of a rack, with and without rack=NAME
//	go run ./bench/detect -figure D1 -quick          small sizes, few runs
//
// Each figure is a CSV and an SVG file in the folder -out, and rows of a table on standard output,
// in which the paper's value stands beside ours; -table replaces them in a page. README.md explains
// each figure.
//
// A node is a daemon of goulfm run --host N --ppn 1 with its one rank, which is this program again.
// A fault kills a node (SIGKILL to its daemon; the rank ends with its daemon) or stops the node
// (SIGSTOP to both, so that silence is the only evidence). Signals go to process descriptors
// (pidfd), so no signal reaches another program. Each time begins just before the signal, by
// CLOCK_MONOTONIC, which all processes of a machine share. The first time ends when a receive from
// the rank of that node has failed at the ranks of other nodes. The second one ends when the
// launcher, which decides as the coordinator, reports to its watchers (package fd/watch) that the
// node is lost.
//
// Reading order:
//
//	main.go, take_linux.go, latency_linux.go, group_linux.go, rank_linux.go,
//	racks_linux.go for D10
package main
