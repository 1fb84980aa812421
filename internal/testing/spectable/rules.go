package spectable

// A Status is whether a rule holds.
type Status uint8

// Statuses.
const (
	// Holds: proved by the tests.
	Holds Status = iota
	// Broken: the rule has an entry in Gaps.
	Broken
)

// A Rule is one row of docs/SEMANTICS.md.
type Rule struct {
	ID       string
	Sentence string // in our own words; each line is a fact, with a row of its own
	Status   Status
	Note     string   // the part of the sentence that concerns no call here
	Tests    []string // package and name of the functions named after the rule, sorted
}

// Rules are the rules R, the choices C and the rules W of one-sided windows.
func Rules() []Rule {
	return append([]Rule{
		{ID: "R1", Sentence: "No call blocks for ever because of a failure: it succeeds or raises an error.", Tests: []string{"comm.TestSpecR1R45SendRecvToTheDead", "comm.TestSpecR1R46SendRecvFromTheDead", "conformance.TestSpecR1CellsOverProcesses", "conformance.TestSpecR1R45R46PeerKilledAtEveryFrame", "conformance.TestSpecR1R5R6R7EveryCallInEveryState", "massdeath.TestSpecR1R37R56R62HalfOfTheJobDies", "replace.TestSpecR1R59LostAndReplaced"}},
		{ID: "R2", Sentence: "Only an operation that cannot complete raises an error; no other caller gets one.", Tests: []string{"collectives.TestSpecC2R2ErrorsAreLocal", "comm.TestSpecR2UndisturbedRanksSeeNoError", "ulfm.TestSpecR2R3NothingWithoutNeed"}},
		{ID: "R3", Sentence: "A failure outside a communicator never raises an error on it.", Tests: []string{"collectives.TestSpecR3InsulationOfCollectives", "comm.TestSpecR3ADeathDisturbsOnlyItsCommunicators", "comm.TestSpecR3R56FailuresElsewhere", "ulfm.TestSpecR2R3NothingWithoutNeed"}},
		{ID: "R4", Sentence: "Knowledge of failures must grow only when an error must be raised. Here the knowledge also grows in the background.", Tests: []string{"comm.TestSpecR4KnowledgeGrowsInTheBackground"}},
		{ID: "R5", Sentence: "An error handler gets the communicator and the error, and may itself revoke, shrink or acknowledge.\n\"abort\" ends the communicator's group, \"fatal\" the whole job.", Tests: []string{"comm.TestSpecR5HandlerMayRepair", "conformance.TestSpecR1R5R6R7EveryCallInEveryState", "conformance.TestSpecR5R63C8WaysToEnd"}},
		{ID: "R6", Sentence: "Three classes: a needed process failed; a wildcard receive lost a possible sender but stays active; the communicator is revoked.", Tests: []string{"conformance.TestSpecR1R5R6R7EveryCallInEveryState", "ulfm.TestSpecR6ThreeClasses"}},
		{ID: "R7", Sentence: "Revocation is tested before dead peers, and a complete request never turns into an error.", Tests: []string{"collectives.TestSpecR13R7RevokedBeforeEachCollective", "comm.TestSpecR7R18RevokedBeforeDead", "comm.TestSpecR7R8CompleteStaysComplete", "conformance.TestSpecR1R5R6R7EveryCallInEveryState", "ulfm.TestSpecR7R13R14R32R40RevokedFirst"}},
		{ID: "R8", Sentence: "A message that was matched and complete before the failure is delivered.", Tests: []string{"comm.TestSpecR48R8R13MatchedProbe", "comm.TestSpecR7R8CompleteStaysComplete", "comm.TestSpecR8R46AnnouncedIsNotComplete", "comm.TestSpecR8WhatArrivedIsReceived"}},
		{ID: "R9", Sentence: "Revoke is not collective, needs no matching call, and any member may call it with or without a failure.", Tests: []string{"comm.TestSpecR9AnyMemberRevokesAlone"}},
		{ID: "R10", Sentence: "After one member's Revoke the communicator becomes revoked at all living members, whatever else fails.", Tests: []string{"comm.TestSpecR10RelaysDieToo", "comm.TestSpecR10RevokedThenDead", "comm.TestSpecR10RevokerDies", "engine.TestSpecR10RevokedThenDeadAtOnePoll"}},
		{ID: "R11", Sentence: "Revocation has no order with messages: a receive may raise the revoked error although its send was posted earlier.", Tests: []string{"comm.TestSpecR11NoOrderWithMessages"}},
		{ID: "R12", Sentence: "Revocation is permanent, and many Revokes at once are one.", Tests: []string{"comm.TestSpecR12ManyRevocationsAreOne"}},
		{ID: "R13", Sentence: "Once revoked here, pending and later operations end with the revoked error. Agreement and shrink never raise this error.", Tests: []string{"collectives.TestSpecR13R7RevokedBeforeEachCollective", "collectives.TestSpecR13RevokedInsideEachCollective", "comm.TestSpecR13RevocationEndsEverything", "comm.TestSpecR13WithOneself", "comm.TestSpecR48R8R13MatchedProbe", "ulfm.TestSpecR7R13R14R32R40RevokedFirst"}},
		{ID: "R14", Sentence: "Local calls (rank, size, group, failed ranks, acknowledgement, Free) work on a revoked communicator.", Tests: []string{"comm.TestSpecR14LocalCallsOfARevokedCommunicator", "ulfm.TestSpecR7R13R14R32R40RevokedFirst"}},
		{ID: "R15", Sentence: "IsRevoked is local, and true from the moment this process knows: before any of its calls raises revoked.", Tests: []string{"cluster.TestSpecR15R57GatheringRuns", "comm.TestSpecR15IsRevokedIsLocal", "control.TestSpecR15R57OnlyMembersOfTheGroupMatter"}},
		{ID: "R16", Sentence: "Parents, duplicates and children of a revoked communicator are not revoked; a library's inner copies are.", Tests: []string{"collectives.TestSpecR16InnerMessagesAreRevokedToo", "comm.TestSpecR16OnlyThatOneIsRevoked"}},
		{ID: "R17", Sentence: "With several threads IsRevoked may be true before the operation that raises the error has returned.", Tests: []string{"comm.TestSpecR17KnownBeforeTheOperationReturns"}},
		{ID: "R18", Sentence: "A loop that keeps seeing process failures on a revoked communicator sees the revocation in the end.", Tests: []string{"comm.TestSpecR7R18RevokedBeforeDead"}},
		{ID: "R19", Sentence: "GetFailed is local and may be empty; on an intercommunicator it covers both groups.", Tests: []string{"comm.TestSpecR19BothGroupsOfAnIntercomm", "comm.TestSpecR19GetFailedIsLocal"}},
		{ID: "R20", Sentence: "Of two results of GetFailed at one process the shorter is a prefix of the longer.", Tests: []string{"comm.TestSpecR20C6OrderOfLearning", "comm.TestSpecR20EachResultIsAPrefixOfTheLaterOnes"}},
		{ID: "R21", Sentence: "AckFailed(n) acknowledges the first n known failures and returns the total acknowledged.\nThe argument 0 only asks, and the size acknowledges all. Any value outside is an argument error.", Tests: []string{"comm.TestSpecR21Arguments", "comm.TestSpecR21R24Acknowledge", "commstate.TestSpecR21R26PartlyAcknowledged"}},
		{ID: "R22", Sentence: "An acknowledged failure no longer interrupts wildcard receives and no longer makes agreements fail.", Tests: []string{"comm.TestSpecR22AcknowledgedFailuresInterruptNothing", "ulfm.TestSpecR22R23WhatAcknowledgingChanges"}},
		{ID: "R23", Sentence: "Acknowledging never makes other collectives succeed.", Tests: []string{"collectives.TestSpecR23AcknowledgingHelpsNoCollective", "comm.TestSpecR23AcknowledgingDoesNotMakeCreationsSucceed", "ulfm.TestSpecR22R23WhatAcknowledgingChanges"}},
		{ID: "R24", Sentence: "Acknowledgements belong to one communicator at one process and do not travel.", Tests: []string{"comm.TestSpecR21R24Acknowledge", "comm.TestSpecR24AcknowledgementsStayAtHome"}},
		{ID: "R25", Sentence: "The older FailureAck acknowledges all known failures, FailureGetAcked returns the acknowledged ones; both spellings mix.", Tests: []string{"comm.TestSpecR25OlderSpelling"}},
		{ID: "R26", Sentence: "Wildcard receives work again when all known failures are acknowledged.", Tests: []string{"comm.TestSpecR26C5WildcardsNeedAllAcknowledged", "commstate.TestSpecR21R26PartlyAcknowledged"}},
		{ID: "R27", Sentence: "The agreed flag is the AND over the members that contributed, the same at all that return.", Tests: []string{"comm.TestSpecR27FlagIsTheAnd"}},
		{ID: "R28", Sentence: "A member that fails before its contribution is left out.\nThe agreement then raises an error unless all members had acknowledged this failure before they entered.", Tests: []string{"comm.TestSpecR28AcknowledgedByAllOrNot", "comm.TestSpecR28R29R30R31UnacknowledgedDeath"}},
		{ID: "R29", Sentence: "If an agreement raises a process failure at one member, all members get one.", Tests: []string{"comm.TestSpecR28R29R30R31UnacknowledgedDeath", "comm.TestSpecR29R37DeathAtEveryFrame"}},
		{ID: "R30", Sentence: "The flag is agreed and valid even when the agreement raises a process failure.", Tests: []string{"comm.TestSpecR28R29R30R31UnacknowledgedDeath"}},
		{ID: "R31", Sentence: "After an agreement that raised a process failure, GetFailed holds every member that did not contribute.", Tests: []string{"comm.TestSpecR28R29R30R31UnacknowledgedDeath", "comm.TestSpecR31EverybodyKnowsWhoIsMissing"}},
		{ID: "R32", Sentence: "Agree never raises revoked, and stays collective over the living on a revoked communicator.", Tests: []string{"comm.TestSpecR32AgreeIgnoresRevocation", "ulfm.TestSpecR7R13R14R32R40RevokedFirst"}},
		{ID: "R33", Sentence: "On an intercommunicator the flag is the AND over the remote group.", Tests: []string{"comm.TestSpecR33FlagIsOfTheRemoteGroup"}},
		{ID: "R34", Sentence: "A member that died after its contribution may count or not; success is allowed.", Tests: []string{"comm.TestSpecR34DeathAfterContributing"}},
		{ID: "R35", Sentence: "Non-blocking agreements may overlap; they are matched in the order of the calls.", Tests: []string{"comm.TestSpecR35IagreeReportsADeath", "comm.TestSpecR35R37ManyIagreesAndADeath", "comm.TestSpecR35SeveralIagrees"}},
		{ID: "R36", Sentence: "Acknowledge and agree, repeated until success, leave identical acknowledged sets at all members.", Tests: []string{"comm.TestSpecR36AcknowledgeAndAgreeUntilSuccess"}},
		{ID: "R37", Sentence: "Failures during an agreement, the root's and cascades included, never prevent its end.", Tests: []string{"comm.TestSpecR29R37DeathAtEveryFrame", "comm.TestSpecR35R37ManyIagreesAndADeath", "massdeath.TestSpecR1R37R56R62HalfOfTheJobDies"}},
		{ID: "R38", Sentence: "The shrunk communicator holds every process that returns from Shrink.\nIf the failure of a process was raised at a member before this member entered, the process is left out.", Tests: []string{"comm.TestSpecR38KnownBeforeIsExcluded", "comm.TestSpecR38R39Shrink", "shrink.TestSpecR38R39R40R41FromManyToOne"}},
		{ID: "R39", Sentence: "Shrink keeps the old order of ranks.", Tests: []string{"comm.TestSpecR38R39Shrink", "shrink.TestSpecR38R39R40R41FromManyToOne"}},
		{ID: "R40", Sentence: "Shrink raises neither process failure nor revoked, and works on a revoked communicator.", Tests: []string{"comm.TestSpecR40R41DeathAtEveryFrameOfShrink", "shrink.TestSpecR38R39R40R41FromManyToOne", "ulfm.TestSpecR7R13R14R32R40RevokedFirst"}},
		{ID: "R41", Sentence: "The shrunk communicator may hold processes that died meanwhile; operations on the new communicator raise their failures.", Tests: []string{"comm.TestSpecR40R41DeathAtEveryFrameOfShrink", "comm.TestSpecR41DeadInTheShrunkAreFound", "shrink.TestSpecR38R39R40R41FromManyToOne"}},
		{ID: "R42", Sentence: "Without failures Shrink gives the same group on a new communicator.", Tests: []string{"comm.TestSpecR42ShrinkWithoutFailure", "soak.TestSpecR42R58FreedIsForgotten"}},
		{ID: "R43", Sentence: "Posting a non-blocking Shrink raises no failure, and the old communicator works on meanwhile.", Tests: []string{"comm.TestSpecR43NonBlockingShrink", "comm.TestSpecR43OldCommunicatorWorksMeanwhile"}},
		{ID: "R44", Sentence: "Messages, acknowledgements, errors and revocation of the old communicator do not leak into the new one.", Tests: []string{"comm.TestSpecR44NothingLeaks"}},
		{ID: "R45", Sentence: "A send to a dead rank raises process failure.\nThe send may succeed if the message was buffered before the death was known.", Tests: []string{"comm.TestSpecR1R45SendRecvToTheDead", "comm.TestSpecR45R46DeathEndsWhatWaits", "comm.TestSpecR45R46R47KnownDeathAtEveryCall", "conformance.TestSpecR1R45R46PeerKilledAtEveryFrame"}},
		{ID: "R46", Sentence: "A receive from a dead rank raises process failure with that rank as source, unless its message has arrived.", Tests: []string{"comm.TestSpecR1R46SendRecvFromTheDead", "comm.TestSpecR45R46DeathEndsWhatWaits", "comm.TestSpecR45R46R47KnownDeathAtEveryCall", "comm.TestSpecR46LostMessageIsNotOvertaken", "comm.TestSpecR46R49SenderDiesAtEveryFrame", "comm.TestSpecR8R46AnnouncedIsNotComplete", "conformance.TestSpecR1R45R46PeerKilledAtEveryFrame"}},
		{ID: "R47", Sentence: "Posting a non-blocking operation never raises process failure; Wait and Test do.", Tests: []string{"comm.TestSpecR45R46R47KnownDeathAtEveryCall"}},
		{ID: "R48", Sentence: "A blocking wildcard receive or probe raises process failure while any member's failure is not acknowledged.", Tests: []string{"comm.TestSpecR48BlockingAnySource", "comm.TestSpecR48R8R13MatchedProbe"}},
		{ID: "R49", Sentence: "A non-blocking wildcard receive raises pending and stays active: after an acknowledgement the same request can be waited for again.", Tests: []string{"comm.TestSpecR46R49SenderDiesAtEveryFrame", "comm.TestSpecR49PendingCanBeCancelled", "comm.TestSpecR49PendingThenAcknowledgedThenMatched", "comm.TestSpecR64R49PersistentFromAny"}},
		{ID: "R50", Sentence: "A wildcard receive already matched with a living sender succeeds although a third party died; otherwise pending comes first.", Tests: []string{"comm.TestSpecR50AlreadyMatchedSucceeds", "comm.TestSpecR50PendingComesFirst"}},
		{ID: "R51", Sentence: "WaitAny and TestAny return one complete or failed request; a pending one is returned and stays active.", Tests: []string{"comm.TestSpecR51OneOfMany"}},
		{ID: "R52", Sentence: "WaitAll, WaitSome and their tests report errors per request.\nThey return as soon as an error stops progress, and leave the other requests valid.", Tests: []string{"comm.TestSpecR52R65C1ErrorsPerRequest", "comm.TestSpecR52RevokedPerRequest"}},
		{ID: "R53", Sentence: "Operations with no process and with oneself do not fail by others' deaths.", Tests: []string{"comm.TestSpecR53NoProcessAndSelf"}},
		{ID: "R54", Sentence: "A collective may succeed at some ranks and fail at others; a synchronising one entered after a death succeeds nowhere.", Tests: []string{"collectives.TestSpecR54KilledBeforeEachCollective", "collectives.TestSpecR54KilledBeforeOnSeveralNodes", "collectives.TestSpecR54KilledInsideEachCollective", "collectives.TestSpecR54KilledInsideOnSeveralNodes"}},
		{ID: "R55", Sentence: "A collective after a known failure raises process failure at entry, at every rank that knows.", Tests: []string{"collectives.TestSpecR55FailsAtEntry"}},
		{ID: "R56", Sentence: "Creating a communicator may fail; here it fails for all members alike.", Tests: []string{"comm.TestSpecR3R56FailuresElsewhere", "comm.TestSpecR56C3OneOutcomeForAll", "comm.TestSpecR56CreationIsUniform", "comm.TestSpecR56MergeIsUniform", "massdeath.TestSpecR1R37R56R62HalfOfTheJobDies"}},
		{ID: "R57", Sentence: "For a creation from a group only the members of the group matter.", Tests: []string{"cluster.TestSpecR15R57GatheringRuns", "comm.TestSpecR57TheOthersAreNotNeeded", "control.TestSpecR15R57OnlyMembersOfTheGroupMatter"}},
		{ID: "R58", Sentence: "Free is local and succeeds on failed and revoked communicators.", Tests: []string{"comm.TestSpecR58FreeAlwaysWorks", "soak.TestSpecR42R58FreedIsForgotten"}},
		{ID: "R59", Sentence: "Spawn and connect raise an error and never hang; a spawn that fails leaves nothing.", Note: "there is no connect", Tests: []string{"goulfm.TestSpecR59DeathsWhileOthersAreStarted", "goulfm.TestSpecR59SpawnThatFails", "launch.TestSpecR59UnwantedWhileStarted", "replace.TestSpecR1R59LostAndReplaced"}},
		{ID: "R60", Sentence: "One-sided operations raise process failure when a needed peer died; the window's contents are then defined (W1-W24).", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget"}},
		{ID: "R61", Sentence: "Collective file operations raise process failure; file positions are then undefined.", Note: "no call moves a file position", Tests: []string{"file.TestSpecR61DeathAtEveryFrameOfOpen", "file.TestSpecR61DeathInACall"}},
		{ID: "R62", Sentence: "Finalize returns at all survivors despite any failures, also those during it.", Tests: []string{"comm.TestSpecR62FinalizeSurvivesADeathAtEveryFrame", "massdeath.TestSpecR1R37R56R62HalfOfTheJobDies"}},
		{ID: "R63", Sentence: "Abort ends the communicator's group and no more; survivors see process failures.", Tests: []string{"conformance.TestSpecR5R63C8WaysToEnd"}},
		{ID: "R64", Sentence: "A persistent request is inactive after an error, and may be started again or freed.\nA start towards a dead rank reports the failure at completion.", Tests: []string{"comm.TestSpecR64PersistentAfterAnError", "comm.TestSpecR64R49PersistentFromAny"}},
		{ID: "R65", Sentence: "An error in one request cancels no other.", Tests: []string{"comm.TestSpecR52R65C1ErrorsPerRequest"}},
		{ID: "R66", Sentence: "The buffer of a failed receive is undefined; the buffer of a failed send may be used again.", Tests: []string{"comm.TestSpecR66BufferOfAFailedSend"}},
		{ID: "R67", Sentence: "A request that ends by an error releases its resources, like one that succeeds.", Tests: []string{"comm.TestSpecR67MemoryIsReleased"}},
		{ID: "R68", Sentence: "All of this holds while several threads call on different communicators.", Tests: []string{"collectives.TestSpecR68CollectivesOfSeveralGoroutines", "comm.TestSpecR68FailureMeetsManyGoroutines", "conformance.TestSpecR68ManyGoroutinesMeetADeath"}},
		{ID: "C1", Sentence: "WaitAll returns when no further progress is needed: finished requests are final, pending ones stay active.", Tests: []string{"comm.TestSpecR52R65C1ErrorsPerRequest"}},
		{ID: "C2", Sentence: "Errors of collectives are local by default.", Tests: []string{"collectives.TestSpecC2R2ErrorsAreLocal"}},
		{ID: "C3", Sentence: "Creation of communicators has the agreement inside, hence one outcome for all.", Tests: []string{"comm.TestSpecR56C3OneOutcomeForAll"}},
		{ID: "C4", Sentence: "Recovery of overlapping communicators must follow one order in the program; diagnosis names the waits.", Tests: []string{"comm.TestSpecC4OverlappingRecoveries", "conformance.TestSpecC4DeadlockIsReported"}},
		{ID: "C5", Sentence: "After a partial acknowledgement wildcard receives stay interrupted until all known failures are acknowledged.", Tests: []string{"comm.TestSpecR26C5WildcardsNeedAllAcknowledged"}},
		{ID: "C6", Sentence: "The order of GetFailed is the order in which this process learnt, never sorted.", Tests: []string{"comm.TestSpecR20C6OrderOfLearning"}},
		{ID: "C7", Sentence: "Frames that a fenced process still sends are dropped because of their incarnation.", Tests: []string{"comm.TestSpecC7FencedIsNotHeard", "goulfm.TestSpecC7ASilentRankIsFenced"}},
		{ID: "C8", Sentence: "A crash, an exit without Finalize, an abort, a fence or unreachability beyond the timeout is a failure.\nAn exit after Finalize is not.", Tests: []string{"comm.TestSpecC8WhatIsAFailure", "conformance.TestSpecR5R63C8WaysToEnd"}},
		{ID: "C9", Sentence: "In uniform mode the first failure of a member revokes the communicator by itself at every member.\nA communicator passes the mode on to the communicators that are made from it.", Tests: []string{"cluster.TestSpecC9UniformRuns", "comm.TestSpecC9EveryRankIsTold", "comm.TestSpecC9TheModeIsInherited", "control.TestSpecC9DeathRevokes"}},
		{ID: "C10", Sentence: "Finalize meets the calls of other members on the world and on communicators made from it.\nAgreements, shrinks and creations are then ErrMismatch at all, never a wait for each other.", Tests: []string{"comm.TestSpecC10FinalizeMeetsOtherCalls", "control.TestSpecC10FinalizeMeetsOtherCalls"}},
		{ID: "C11", Sentence: "Disconnect returns at all living members once each has called Disconnect and nothing is under way.\nIf a member has died, Disconnect raises process failure at all members, and still frees the communicator.", Tests: []string{"comm.TestSpecC11DisconnectAfterADeath", "comm.TestSpecC11DisconnectDeathAtEveryFrame", "comm.TestSpecC11DisconnectWaitsForAReceive", "comm.TestSpecC11DisconnectWaitsForAllMembers"}},
	}, windowRules()...)
}
