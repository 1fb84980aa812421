package spectable

// windowRules are the rules W.
func windowRules() []Rule {
	return []Rule{
		{ID: "W1", Sentence: "Windows are made uniformly (C3): a member without memory or with a wrong argument votes no, and gets its own error, the others that of a peer.", Tests: []string{"rma.TestSpecW1DeathWhileItIsMade", "rma.TestSpecW1OneOutcome", "shmem.TestSpecW1AllocIsUniform"}},
		{ID: "W2", Sentence: "An operation between living members never fails because of a third member's death; Fence is the exception.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W3", Sentence: "An operation on a target known to be dead raises process failure with its rank, without effect, at the call; of an I... operation at the wait.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W4", Sentence: "On a target that dies meanwhile it is success or that error; with the error each element was changed once or not at all, and not after the error.", Tests: []string{"rma.TestSpecW4TargetDiesMeanwhile"}},
		{ID: "W5", Sentence: "A Flush that succeeds says that all earlier operations took effect before the target was declared dead here; FlushAll that names the dead has completed at all others. Neither says anything of a later death.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W6", Sentence: "After a death at any instruction each number holds a value that somebody wrote as a whole; atomic changes happened once or not; of a dead origin's longer operation any subset of the elements, once each.", Tests: []string{"goulfm.TestSpecW6CountsOfTheKilled", "goulfm.TestSpecW6W7PutsOfTheKilled"}},
		{ID: "W7", Sentence: "Once any process knows of a death, nothing that the dead stores reaches a window any more; not promised for system calls of the program into its memory.", Tests: []string{"goulfm.TestSpecW6W7PutsOfTheKilled", "rma.TestSpecW7Silence"}},
		{ID: "W8", Sentence: "Get, Load and FetchAndOp from the dead raise process failure; the destination is untouched.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W9", Sentence: "Salvage reads the elements of a dead member of the node until the window is freed, its own direct stores included.", Tests: []string{"goulfm.TestSpecW9W20MemoryOfTheKilled", "rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W10", Sentence: "The share that a dead member had of a lock is free.", Tests: []string{"rma.TestSpecW10W12DeadSharersAndWaiters"}},
		{ID: "W11", Sentence: "A dead exclusive holder leaves the target broken: every Lock there, waiting or later, raises process failure with the dead, until one in mode Mend gets it and unlocks; if the mender dies it is broken again. Accesses without a lock go on.", Tests: []string{"goulfm.TestSpecW11LocksOfTheKilled", "rma.TestSpecW11W23BrokenLock", "shmem.TestSpecW11BrokenLock"}},
		{ID: "W12", Sentence: "The death of one who waits behind a holder, also of one just chosen, breaks and blocks nothing.", Tests: []string{"rma.TestSpecW10W12DeadSharersAndWaiters"}},
		{ID: "W13", Sentence: "Lock and Unlock on a dead target raise process failure; the holder may forget the lock.", Tests: []string{"rma.TestSpecW13LockOfADeadTarget"}},
		{ID: "W14", Sentence: "A Fence entered after a member's death fails wherever it is entered. Whatever a Fence returns, the caller's own operations on living targets are complete.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget"}},
		{ID: "W15", Sentence: "After the next agreement on the window's communicator all operations of the living before their Fence are complete: memory after a failed epoch is defined.", Tests: []string{"rma.TestSpecR60W2W3W5W8W9W14W15DeadTarget"}},
		{ID: "W16", Sentence: "Start and Complete name dead targets, having completed at the others; WaitPosted names dead origins after all living ones have completed. The epoch is over either way.", Tests: []string{"rma.TestSpecW16EpochsWithTheDead"}},
		{ID: "W17", Sentence: "A wait looks at the value first, then for a revocation, then for deaths: of those named, or without names of anybody not acknowledged (R48).", Tests: []string{"rma.TestSpecW17W18Waits", "shmem.TestSpecW2W3W5W8W9W17DeadPE"}},
		{ID: "W18", Sentence: "A notification that is counted implies its data, whatever died afterwards.", Tests: []string{"rma.TestSpecW17W18Waits"}},
		{ID: "W19", Sentence: "Revoking a communicator revokes the windows made of it, not the reverse. Waits end, later calls raise revoked, and what was done stays.", Tests: []string{"rma.TestSpecW19W23Revoke"}},
		{ID: "W20", Sentence: "A Shrink leaves windows usable among the living. Rebuild gives a new communicator the same memory in place; with Inherit a member gets a copy of what a dead one had.", Tests: []string{"goulfm.TestSpecW9W20MemoryOfTheKilled", "rma.TestSpecW20Rebuild", "shmem.TestSpecW20Repair"}},
		{ID: "W21", Sentence: "Free is local: the memory stays in reach of the others until they have freed the window.", Tests: []string{"rma.TestSpecW21FreeIsLocal"}},
		{ID: "W22", Sentence: "Where a declared death may still run on, windows go by messages and frames of the dead are dropped.", Tests: []string{"goulfm.TestSpecW22FencedStores"}},
		{ID: "W23", Sentence: "A broken lock, a revoked window or a dead target leave every other target and window usable.", Tests: []string{"rma.TestSpecW11W23BrokenLock", "rma.TestSpecW19W23Revoke"}},
		{ID: "W24", Sentence: "An operation that need not wait does not look at its context; Lock, Wait and WaitPosted are withdrawn; Fence and the creation of a window revoke it.", Tests: []string{"rma.TestSpecW24Contexts", "shmem.TestSpecW24AllocGivenUp"}},
	}
}
