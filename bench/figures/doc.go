// Command figures redraws the simulated figures of five papers with the code that
// ships: package fd (the ring), internal/protocol/flood (the broadcast), era (the agreement) and
// fd/adaptive (the detector of services).
//
//   - RR-9024 (Bosilca et al., A Failure Detector for HPC Platforms), Figures 3 to 7
//     and 10; the bound of its Theorem 1. The right graph of Figure 10 also has real processes, by
//     bench/measure failures.
//   - ERA (Herault et al., SC'15), the shapes of Figures 2a to 2c, and Table 2d; its section
//     4.2: shrinks and repairs of S3D in Fenix (Figures 4a to 4c) and agreements of MiniFE in
//     LFLR (Figures 5a to 5c), beside measurements of real processes by bench/recovery.
//   - Zhong et al., PARCO 2019, Figures 11, 12, 14 and 15.
//   - Chen, Toueg, Aguilera (On the Quality of Service of Failure Detectors, IEEE TC 2002),
//     Figure 12.
//   - Bouteiller, Desprez (Fault Tolerance Management for a Hierarchical GridRPC Middleware,
//     2008), Figure 4; Figure 6 from the runs of gridrpc/bench/farm.
//
// Two comparisons belong to no paper: mistakes a month of fd/adaptive in years of losses and
// outages (rates.go), and other detectors beside fd/adaptive on six kinds of networks (rivals.go).
//
// Each figure becomes a CSV file and an SVG file with the values that the paper states, and a few
// lines "paper, ours" in the table of README.md. "make figures" runs the command.
//
// # Notation
//
// RR-9024 has the period η and the timeout δ; Zhong et al. have it the other way
// round. Here P is the period and T the timeout. τ is the longest time of a message.
//
// # The machines
//
// world (lazy.go) is a ring of up to 256,000 processes. Heartbeats exist only near faults. A
// process gets a detector, from package fd, when its emitter dies or another process asks a
// question, and loses the detector when all is quiet again. A death notice crosses the whole graph
// at once, as a shortest-path search in which each process sends to its neighbours one after the
// other. full (full.go) gives a detector to every process and sends every message; a test compares
// the two.
//
// ports (ports.go) is internal/protocol/flood with one-port sending and receiving, for
// broadcasts that overlap. logp (logp.go) is package era in a LogP model, and the baseline
// of its paper, bench/internal/log2phases. cluster (adaptive.go) is an observer of
// fd/adaptive with its emitters. The rest are comparison machines: all-reduce, the ring
// without the second poll behind a suspect, random probing, plain timeouts.
package main
