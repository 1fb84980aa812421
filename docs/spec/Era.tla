-------------------------------- MODULE Era --------------------------------
(***************************************************************************)
(* One agreement of package era among the members 0..N-1, of which at most *)
(* F crash.  agreement.md says the same in words; the rule numbers are     *)
(* those of era/agreement.go.                                              *)
(*                                                                         *)
(* Left out: several agreements at once and the window (A12, A16), garbage *)
(* collection (rule 8), the watchdog (rule 9), probes, which send nothing  *)
(* of the agreement, and all of the value but who is in it and who is dead.*)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS N, F, Flaw    \* Flaw = "none", or a repair that is left out: "A1", "A6", "A8", "A9", "A10"

Members == 0 .. N-1
None    == N            \* no member
States  == {"new", "gathering", "waiting", "decided"}
Values  == [from : SUBSET Members, dead : SUBSET Members]

VARIABLES
    l,         \* l[p]: the local state of p, see TypeOK
    chan,      \* chan[p][q]: what is under way from p to q, first in first out
    crashed    \* who has crashed

vars == <<l, chan, crashed>>

-----------------------------------------------------------------------------
(* The tree: era/tree.go.  clo is whom a member has closed.                *)

Up(p) == (p - 1) \div 2

RECURSIVE Ancestor(_, _)
Ancestor(p, clo) ==
    IF p = 0 THEN None
    ELSE IF Up(p) \notin clo THEN Up(p) ELSE Ancestor(Up(p), clo)

Root(clo) == CHOOSE r \in Members \ clo : \A q \in Members \ clo : r <= q

Parent(p, clo) ==
    IF Ancestor(p, clo) # None THEN Ancestor(p, clo)
    ELSE IF Root(clo) = p THEN None ELSE Root(clo)

Children(p, clo) == { q \in Members \ (clo \cup {p}) : Parent(q, clo) = p }

-----------------------------------------------------------------------------
(* Steps of one member.  Each takes a local state and returns another, in  *)
(* which out holds what is to be sent: at most one message to each member. *)

Merge(v, w) == [from |-> v.from \cup w.from, dead |-> v.dead \cup w.dead]

Put(s, to, msg) == [s EXCEPT !.out = @ \cup {<<to, msg>>}]

SendUp(s, p, to) ==
    LET v == [s.val EXCEPT !.dead = @ \cup s.clo]
    IN  Put([s EXCEPT !.st = "waiting", !.val = v, !.par = to], to, [kind |-> "UP", val |-> v])

\* Rule 6.
Decide(s, p, v, teller) ==
    LET to == ((s.req \cup s.con \cup Children(p, s.clo)) \ s.clo) \ {teller}
        t  == [s EXCEPT !.st = "decided", !.val = v, !.par = None,
                        !.con = {}, !.req = {}, !.ask = {}]
    IN  [t EXCEPT !.out = @ \cup { <<q, [kind |-> "DOWN", val |-> v]>> : q \in to }]

\* Rule 2, after every event (A19).
Evaluate(s, p) ==
    IF s.st # "gathering" \/ ~(Children(p, s.clo) \subseteq s.con) THEN s
    ELSE IF Parent(p, s.clo) # None THEN SendUp(s, p, Parent(p, s.clo))
    ELSE Decide(s, p, [s.val EXCEPT !.dead = @ \cup s.clo], None)

\* A root asks each child in view that has not contributed, once (rule 3, A9).
Ask(s, p) ==
    LET whom == (Children(p, s.clo) \ s.con) \ s.ask
    IN  [s EXCEPT !.ask = @ \cup whom, !.out = @ \cup { <<q, [kind |-> "RR"]>> : q \in whom }]

EnterStep(s, p) ==
    Evaluate([s EXCEPT !.st = "gathering", !.val = Merge(@, [from |-> {p}, dead |-> {}])], p)

\* Rule 1.
UpStep(s, p, q, v) ==
    IF s.st = "decided" THEN Put(s, q, [kind |-> "DOWN", val |-> s.val])
    ELSE Evaluate([s EXCEPT !.val = Merge(@, v), !.con = @ \cup {q}], p)

\* Rule 4, A1, A10.
RequestStep(s, p, q) ==
    IF s.st = "decided" THEN Put(s, q, [kind |-> "DOWN", val |-> s.val])
    ELSE LET t == IF Flaw = "A10" /\ s.st = "waiting" THEN s ELSE [s EXCEPT !.req = @ \cup {q}]
         IN  IF Flaw = "A1" /\ s.st = "waiting" THEN Put(t, q, [kind |-> "UP", val |-> s.val]) ELSE t

\* Rule 5, A6.
DownStep(s, p, y, v) ==
    IF s.st \notin {"decided", "new"} /\ (y = s.par \/ y \in s.ask \/ Flaw = "A6")
    THEN Decide(s, p, v, y) ELSE s

\* Rule 3: x is closed first, then everything else follows.
CloseStep(s0, p, x) ==
    LET s == [s0 EXCEPT !.clo = @ \cup {x}] IN
    IF s.st \in {"decided", "new"} THEN s
    ELSE LET lost   == s.st = "waiting" /\ x = s.par
             heir   == lost /\ Parent(p, s.clo) = None
             moved  == IF lost /\ ~heir THEN SendUp(s, p, Parent(p, s.clo))
                       ELSE IF heir
                       THEN [s EXCEPT !.st = "gathering", !.par = None,
                                      !.con = IF Flaw = "A8" THEN {} ELSE @]
                       ELSE s
             asked  == IF moved.st = "gathering" /\ Root(moved.clo) = p
                          /\ (heir \/ Flaw # "A9")
                       THEN Ask(moved, p) ELSE moved
         IN  Evaluate(asked, p)

-----------------------------------------------------------------------------
Init ==
    /\ l = [p \in Members |->
              [st |-> "new", val |-> [from |-> {}, dead |-> {}], con |-> {}, req |-> {},
               ask |-> {}, par |-> None, clo |-> {}, out |-> {}]]
    /\ chan = [p \in Members |-> [q \in Members |-> <<>>]]
    /\ crashed = {}

\* Member p goes to local state s and sends s.out; c are the channels without what it took.
Do(p, s, c) ==
    /\ l' = [l EXCEPT ![p] = [s EXCEPT !.out = {}]]
    /\ chan' = [c EXCEPT ![p] = [q \in Members |->
                   IF \E m \in s.out : m[1] = q
                   THEN Append(c[p][q], (CHOOSE m \in s.out : m[1] = q)[2])
                   ELSE c[p][q]]]
    /\ UNCHANGED crashed

Enter(p) == p \notin crashed /\ l[p].st = "new" /\ Do(p, EnterStep(l[p], p), chan)

\* A frame of a closed member is dropped (A6).
Deliver(q, p) ==
    /\ p \notin crashed /\ chan[q][p] # <<>>
    /\ LET m == Head(chan[q][p])
           c == [chan EXCEPT ![q][p] = Tail(@)]
           s == l[p]
       IN  Do(p, IF q \in s.clo /\ Flaw # "A6" THEN s
                 ELSE CASE m.kind = "UP"   -> UpStep(s, p, q, m.val)
                        [] m.kind = "RR"   -> RequestStep(s, p, q)
                        [] m.kind = "DOWN" -> DownStep(s, p, q, m.val), c)

Crash(p) ==
    /\ p \notin crashed /\ Cardinality(crashed) < F
    /\ crashed' = crashed \cup {p}
    /\ UNCHANGED <<l, chan>>

\* What a crashed member sent last may be lost: it died in the middle of its sends.
Lose(p, q) ==
    /\ p \in crashed /\ chan[p][q] # <<>>
    /\ chan' = [chan EXCEPT ![p][q] = SubSeq(@, 1, Len(@) - 1)]
    /\ UNCHANGED <<l, crashed>>

\* The detector tells p of a death: at any time after it, at each member when it likes.
Notice(p, x) ==
    /\ p \notin crashed /\ x \in crashed /\ x \notin l[p].clo
    /\ Do(p, CloseStep(l[p], p, x), chan)

Done ==    \* so that only a stall is a deadlock
    /\ \A p \in Members \ crashed : l[p].st = "decided"
    /\ UNCHANGED vars

Next ==
    \/ \E p \in Members : Enter(p) \/ Crash(p)
    \/ \E p, q \in Members : Deliver(p, q) \/ Lose(p, q) \/ Notice(p, q)
    \/ Done

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-----------------------------------------------------------------------------
Live == Members \ crashed

TypeOK ==
    /\ crashed \subseteq Members
    /\ \A p \in Members :
         /\ l[p].st \in States /\ l[p].val \in Values /\ l[p].par \in Members \cup {None}
         /\ l[p].clo \subseteq crashed /\ l[p].out = {}

\* I1: two living members never decide differently.
Agreement ==
    \A p, q \in Live : l[p].st = "decided" /\ l[q].st = "decided" => l[p].val = l[q].val

\* I3: the decision of a living member holds the contribution of every living member.
Participation == \A p \in Live : l[p].st = "decided" => Live \subseteq l[p].val.from

\* Nobody alive is agreed to be dead.
NoFalseDeath == \A p \in Live : l[p].st = "decided" => l[p].val.dead \subseteq crashed

\* I1 of era/doc.go: who waits has one parent, not closed, to which it has promised.
Promise == \A p \in Live : l[p].st = "waiting" => l[p].par # None /\ l[p].par \notin l[p].clo

\* I2: a stall is a deadlock, which TLC reports; as a property:
Termination == <>(\A p \in Members \ crashed : l[p].st = "decided")
=============================================================================
