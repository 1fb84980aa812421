// Package adaptive is a failure detector with a stated rate of errors. Who observes a
// process says how soon a crash has to be known, and how seldom the process may be
// suspected wrongly; the detector measures the network, and asks for as few heartbeats as
// will do. Package fd is the detector of a job's own ring; this one is for processes that
// have nothing in common but a network: services, their clients, and agents between them.
//
// # The rule
//
// It is NFD-E of Chen, Toueg and Aguilera (On the Quality of Service of Failure Detectors,
// IEEE Transactions on Computers 51(5), 2002), the detector that Bouteiller and Desprez
// built into DIET (Fault tolerance management for a hierarchical GridRPC middleware, 2008).
//
//	emitter   N0        N1        N2        N3 †           nominal times, η apart
//	           \         \         x         \
//	observer    A0        A1      (lost)      A3     EA4        τ              τ+C
//	                                                 |----α-----|------C-------|
//	                                                 expected   suspect,       declare
//	                                                            probe
//
// The emitter sends beat s at its nominal time N(s) = N(s-1) + η. The observer keeps
// x = A - N of the last 32 beats, arrival minus nominal time: neither η nor the offset of the
// clocks is in it. The next beat is expected at EA = mean(x) + N + η. From τ = EA + α
// the process is suspected, until a fresher beat comes. A suspect is probed; one that
// does not answer within C is declared dead, which is irrevocable.
//
// The beat tells the η in force, and α is T - η. So τ is always T after the latest beat was
// to be expected, and a change of η moves nothing: see Watch.Freshness.
//
// # The setting
//
// η and α follow from what is asked (QoS), and from what is known of the network: the
// probability of loss, of loss after loss, and the variance of the delay. Configure has the
// formulas. They are looked at after 100 beats, then after each 16th. The observer asks for
// a new period by an Adjust with a new epoch, and repeats it for each beat of an older
// epoch: losses delay a change, and never leave the two sides with different ideas of it.
//
// # Invariants
//
//   - A crash is declared within QoS.Detection, if the mean delay is at most the round trip
//     that was measured: T + RTT + C = T_D.
//   - Where Quality.Attainable, the mean time between wrong suspicions is at least
//     QoS.Recurrence, and one lasts QoS.Duration at most on average.
//   - At least three beats fall into T (Limits.Beats), however good the network looks.
//   - A declaration comes once, and nothing follows it.
//   - After a Tick the deadline is later than the time it gave.
//   - An observed process takes a bounded piece of memory without pointers, and a beat of it
//     no allocation.
//
// # Where the published detectors are filled in
//
//   - Loss is (lost+1)/(sent+2), not the share of the last 100 beats, which is 0 most of the
//     time: losses.estimate. A beat out of order was late, not lost.
//   - Losses come in bursts: p2.
//   - The variance is that of the prediction error. Drift of clocks is no delay: delays.
//   - The mean delay, which T_D leaves out in the formulas, and the time to confirm are
//     a part of what was asked for: TimeToSuspect.
//   - f(η) is scanned before it is bisected, because it does not fall everywhere: Configure.
//   - A shorter period is taken at once, a longer one when three looks agree, and either at a
//     change of a tenth: a few settings a month, not thousands.
//   - What this process reads when it was stopped itself is no sample (B17).
//   - Beats end when the observer is silent for 30 periods; it renews each 10, at most each
//     25 s, which also keeps the ways through firewalls open.
//   - A broken connection is a suspicion, a refused one a death (B19).
//   - The numbers of beats only grow, and each message has a tag (Seal): a stranger cannot
//     keep the dead alive.
//
// # Not promised
//
// Accuracy of a single suspicion: a living process is suspected now and then, as seldom as
// was asked, and declared if it does not answer then either. What was declared may live,
// and has to be kept from having an effect by who observes it.
//
// Anything while Quality.Attainable is false: outages longer than T_D are mistakes for every
// detector. And Quality is an estimate from some thousands of beats: what the
// network will do next month is not in it.
//
// That a wrong declaration is rare where C is less than a few round trips.
//
// One observer asks for one quality of a process. Several that share a stream of beats each
// have their own T, and α follows from the η that the beats tell; who
// merges the periods that they want is their host.
//
// Reading order: qos.go, configure.go, loss.go and delay.go, watch.go, observer.go,
// emitter.go; then the scripts in testdata, crash.txt first.
package adaptive
