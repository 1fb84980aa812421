// Package adaptive is a failure detector with a stated rate of errors. The observer of a process
// states how soon a crash has to be known, and how seldom the process may be suspected wrongly; the
// detector measures the network, and requests as few heartbeats as suffice. Package fd is the
// detector of a job's own ring; package adaptive is for processes that have nothing in common but a
// network: services, their clients, and agents between them. It has rules alone; package fd/beat
// carries their messages in UDP datagrams.
//
// # The rule
//
// The rule is NFD-E of Chen, Toueg and Aguilera (On the Quality of Service of Failure Detectors,
// IEEE Transactions on Computers 51(5), 2002), the detector that Bouteiller and Desprez built into
// DIET (Fault tolerance management for a hierarchical GridRPC middleware, 2008).
//
//	emitter   N0        N1        N2        N3 †           nominal times, η apart
//	           \         \         x         \
//	observer    A0        A1      (lost)      A3     EA4        τ              τ+C
//	                                                 |----α-----|------C-------|
//	                                                 expected   suspect,       declare
//	                                                            probe
//
// The emitter sends beat s at its nominal time N(s) = N(s-1) + η. The observer keeps x = A - N of
// the last 32 beats, arrival minus nominal time: x does not depend on η, and the offset of the
// clocks in x cancels out in the prediction. The next beat is expected at EA = mean(x) + N + η.
// From τ = EA + α the process is suspected, until a fresher beat comes. A suspect is probed; one
// that does not answer within C is declared dead, which is irrevocable.
//
// The beat carries the η in force, and α is T - η. So τ is always T after the expected arrival of
// the latest beat, and a change of η does not move τ: see Watch.Freshness.
//
// # The setting
//
// η and α follow from the required quality (QoS), and from the measurements of the network: the
// probability of loss, of loss after loss, and the variance of the delay. Configure has the
// formulas. The period is reconsidered after 100 beats, then after each 16th. The observer requests
// a new period by an Adjust with a new epoch, and repeats the Adjust for each beat of an older
// epoch: losses delay a change, but never leave the two sides with different periods.
//
// # Invariants
//
//   - A crash is declared within QoS.Detection, if the mean delay is at most the round trip
//     that was measured: T + RTT + C = T_D.
//   - Where Quality.Attainable, the mean time between wrong suspicions is at least
//     QoS.Recurrence, and one lasts QoS.Duration at most on average.
//   - At least three beats fall into T (Limits.Beats), however good the measurements of the network
//     are.
//   - A declaration comes once, and no action follows.
//   - After a Tick the deadline is later than the time of the Tick.
//   - An observed process takes a bounded piece of memory without pointers, and its beats cause no
//     allocation.
//
// # Where the published detectors are filled in
//
//   - Loss is (lost+1)/(sent+2), not the share of the last 100 beats, which is 0 most of the
//     time: losses.estimate. A beat out of order was late, not lost.
//   - Losses come in bursts: p2.
//   - The variance is that of the prediction error. Drift of clocks is no delay: delays.
//   - The mean delay, which T_D leaves out in the formulas, and the time to confirm are a part of
//     the requested detection time: TimeToSuspect.
//   - f(η) is scanned before the bisection, because f does not fall everywhere: Configure.
//   - A shorter period is adopted at once, a longer one when three checks agree, and either at a
//     change of a tenth: a few settings a month, not thousands.
//   - Messages that this process reads after a stop of its own are no samples (B17).
//   - Beats end when the observer is silent for 30 periods; the observer renews each 10, at most
//     each 25 s, which also keeps the paths through firewalls open.
//   - A broken connection is a suspicion, a refused one a death (B19).
//   - The numbers of beats only grow, and each message has a tag (Seal): a stranger cannot
//     keep the dead alive.
//
// # Not promised
//
// Accuracy of a single suspicion: a live process is suspected now and then, as seldom as requested,
// and declared if no answer follows. A declared process may live, and its observer has to keep it
// from having an effect.
//
// Anything while Quality.Attainable is false: outages longer than T_D are mistakes for every
// detector. And Quality is an estimate from some thousands of beats, not a forecast of the network
// of next month.
//
// That a wrong declaration is rare where C is less than a few round trips.
//
// One observer requests one quality of a process. Several observers that share a stream of beats
// each have their own T, and α follows from the η in the beats; merging their requested periods is
// left to their host.
//
// Reading order of the files: qos, configure, loss and delay, watch, observer, emitter; then the
// scripts in testdata, crash.txt first.
package adaptive
