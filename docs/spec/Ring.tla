-------------------------------- MODULE Ring --------------------------------
(***************************************************************************)
(* The ring of package fd among the processes 0..N-1, of which at most F   *)
(* crash: RR-9024, Algorithm 1, T1 to T5, with the repairs B2, B3, B5, B6, *)
(* B12 and B14.  detector.md says the same in words.  With FirstHand any   *)
(* process may learn of a death first-hand, as between nodes: from exact   *)
(* evidence, or because it watched the dead one.                           *)
(*                                                                         *)
(* Time is left out.  Its part is played by the guard of Detect: a timeout *)
(* and a second check find only the dead (fd/config.go states when that is *)
(* so).  What must then hold is that a live process is in nobody's way: at *)
(* rest each has its heartbeats sent to whoever waits for them (Stable).   *)
(* Heartbeats are left out too, but for what they carry: Beat compares the *)
(* dead sets of a process and of its observer.  Also left out: leaving     *)
(* (B16), fences (B20), partitions (B18), late processes (Absent, Came).   *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS N, F, Flaws,   \* the repairs that are left out, of "B2", "B3", "B5", "B12"
          FirstHand      \* whether Exit is enabled

Procs == 0 .. N-1

VARIABLES
    dead,        \* dead[p]: whom p has declared
    emitter,     \* emitter[p]: whom p observes; p itself when alone (B13)
    observer,    \* observer[p]: where p sends its heartbeats
    claim,       \* claim[p]: the farthest that said it observes p; p if none
    net,         \* messages under way, in no order (RR-9024, 3.1.1)
    crashed

vars == <<dead, emitter, observer, claim, net, crashed>>

-----------------------------------------------------------------------------
Ahead(p, q) == (q + N - p) % N     \* steps from p to q

\* fd/ring.go: the nearest before and after p that is not in gone; p if there is none.
Before(p, gone) ==
    IF Procs \ (gone \cup {p}) = {} THEN p
    ELSE CHOOSE q \in Procs \ (gone \cup {p}) :
            \A r \in Procs \ (gone \cup {p}) : Ahead(q, p) <= Ahead(r, p)
After(p, gone) ==
    IF Procs \ (gone \cup {p}) = {} THEN p
    ELSE CHOOSE q \in Procs \ (gone \cup {p}) :
            \A r \in Procs \ (gone \cup {p}) : Ahead(p, q) <= Ahead(p, r)

\* internal/protocol/flood: the circulant graph, and the nearest live neighbours (B7, B8).
RECURSIVE Powers(_)
Powers(i) == IF i >= N THEN {} ELSE {i} \cup Powers(2 * i)
Targets(p, gone) ==
    ({ (p + i) % N : i \in Powers(1) } \cup { (p + N - i) % N : i \in Powers(1) }
        \cup {Before(p, gone), After(p, gone)}) \ (gone \cup {p})

Notices(p, to, set) == { [kind |-> "NOTICE", from |-> p, to |-> q, set |-> set] : q \in to }

\* p learns that more are dead, from teller (p itself: at first hand); extra are further
\* messages; n is the net without what p took.  It floods the whole set to all but the
\* teller (T5, B6, B14), and rewires whatever it has learnt it from (B5, B12).
Learn(p, more, teller, extra, n) ==
    LET gone  == dead[p] \cup more
        em    == IF "B5" \in Flaws /\ teller # p THEN emitter[p] ELSE Before(p, gone)
        cl    == IF claim[p] \in gone THEN p ELSE claim[p]
        near  == After(p, gone)
        ob    == IF "B12" \in Flaws THEN observer[p]
                 ELSE IF cl # p /\ Ahead(p, cl) > Ahead(p, near) THEN cl ELSE near
        hello == IF em # emitter[p] /\ em # p
                 THEN {[kind |-> "NEWOBSERVER", from |-> p, to |-> em, set |-> gone]} ELSE {}
    IN  /\ dead'     = [dead EXCEPT ![p] = gone]
        /\ emitter'  = [emitter EXCEPT ![p] = em]
        /\ claim'    = [claim EXCEPT ![p] = cl]
        /\ observer' = [observer EXCEPT ![p] = ob]
        /\ net'      = n \cup Notices(p, Targets(p, gone) \ {teller}, gone) \cup hello \cup extra

-----------------------------------------------------------------------------
Init ==
    /\ dead = [p \in Procs |-> {}]
    /\ emitter = [p \in Procs |-> Before(p, {})]
    /\ observer = [p \in Procs |-> After(p, {})]
    /\ claim = [p \in Procs |-> p]
    /\ net = {} /\ crashed = {}

Crash(p) ==
    /\ p \notin crashed /\ Cardinality(crashed) < F
    /\ crashed' = crashed \cup {p}
    /\ UNCHANGED <<dead, emitter, observer, claim, net>>

\* T3: silence, confirmed by a probe that nobody answers.
Detect(p) ==
    /\ p \notin crashed /\ emitter[p] \in crashed
    /\ Learn(p, {emitter[p]}, p, {}, net)
    /\ UNCHANGED crashed

\* Evidence of a death at a process that does not observe the dead one (B19, A21, B9).
Exit(p, x) ==
    /\ FirstHand /\ p \notin crashed /\ x \in crashed /\ x \notin dead[p]
    /\ Learn(p, {x}, p, {}, net)
    /\ UNCHANGED crashed

\* T5: the whole set is merged (B6) and passed on iff it is news (B14); a sender that
\* lacks something is answered (B2).
ReceiveNotice(m) ==
    /\ m \in net /\ m.kind = "NOTICE" /\ m.to \notin crashed
    /\ LET p == m.to
           rest == net \ {m}
           back == IF (dead[p] \cup m.set) # m.set /\ m.from \notin (dead[p] \cup m.set)
                   THEN Notices(p, {m.from}, dead[p] \cup m.set) ELSE {}
       IN  IF m.from \in dead[p] THEN net' = rest /\ UNCHANGED <<dead, emitter, observer, claim>>
           ELSE IF m.set \subseteq dead[p]
           THEN net' = rest \cup back /\ UNCHANGED <<dead, emitter, observer, claim>>
           ELSE Learn(p, m.set, m.from, back, rest)
    /\ UNCHANGED crashed

\* T4: obeyed unless it comes from nearer than the present observer (B2).
ReceiveNewObserver(m) ==
    /\ m \in net /\ m.kind = "NEWOBSERVER" /\ m.to \notin crashed
    /\ LET p == m.to
           obey == m.from \notin dead[p]
                   /\ ("B2" \in Flaws \/ Ahead(p, m.from) >= Ahead(p, observer[p]))
           back == IF m.from \notin dead[p] /\ dead[p] # m.set
                   THEN Notices(p, {m.from}, dead[p]) ELSE {}
       IN  /\ observer' = [observer EXCEPT ![p] = IF obey THEN m.from ELSE @]
           /\ claim'    = [claim EXCEPT ![p] = IF obey THEN m.from ELSE @]
           /\ net'      = (net \ {m}) \cup back
    /\ UNCHANGED <<dead, emitter, crashed>>

\* T1 with B3: a heartbeat whose digest differs is answered with the receiver's set.
Beat(p) ==
    LET o == observer[p] IN
    /\ "B3" \notin Flaws
    /\ p \notin crashed /\ o # p /\ o \notin crashed /\ p \notin dead[o]
    /\ dead[p] # dead[o] /\ ~(Notices(o, {p}, dead[o]) \subseteq net)
    /\ net' = net \cup Notices(o, {p}, dead[o])
    /\ UNCHANGED <<dead, emitter, observer, claim, crashed>>

\* What goes to the dead is lost, and what comes from them may be.
Lose(m) ==
    /\ m \in net /\ (m.to \in crashed \/ m.from \in crashed)
    /\ net' = net \ {m}
    /\ UNCHANGED <<dead, emitter, observer, claim, crashed>>

Next ==
    \/ \E p \in Procs : Crash(p) \/ Detect(p) \/ Beat(p) \/ \E x \in Procs : Exit(p, x)
    \/ \E m \in net : ReceiveNotice(m) \/ ReceiveNewObserver(m) \/ Lose(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
Live == Procs \ crashed

TypeOK == \A p \in Procs : dead[p] \subseteq Procs /\ p \notin dead[p] /\ emitter[p] \in Procs

\* Only the dead are declared.
Accuracy == \A p \in Live : dead[p] \subseteq crashed

\* RR-9024, section 2, invariant 2.
Observes == \A p \in Live : emitter[p] = Before(p, dead[p])

\* Nothing is left to do: no message, nobody to detect, nothing to compare.
Rest ==
    /\ net = {}
    /\ \A p \in Live : emitter[p] \notin crashed
    /\ \A p \in Live : ~ENABLED Beat(p)

\* RR-9024, section 3.1.3: at rest the configuration is stable.
Stable ==
    Rest => \A p \in Live : /\ dead[p] = crashed
                            /\ emitter[p] = Before(p, crashed)
                            /\ observer[p] = After(p, crashed)
=============================================================================
