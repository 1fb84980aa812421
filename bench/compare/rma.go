package main

// oneSided is the suite of operations on windows, between two ranks. Its rows are named after the
// operations, with oneSidedPrefix.
const (
	oneSided       = "rma"
	oneSidedPrefix = "rma_"
	shmemPrefix    = "shmem_" // of the operations on a symmetric heap
	shmemProgram   = "shmem"  // the peers' own program for these, by OpenSHMEM
)

// oneSidedOps are the operations that MPI or OpenSHMEM has, too, each with its sizes, "" for a
// single size.
var oneSidedOps = []struct{ op, sizes string }{
	{"put", "8,1K,4K,64K,1M,4M"}, {"put64", ""}, {"get", "8,64K,1M"},
	{"load", ""}, {"store", ""}, {"fetch_add", ""}, {"cas", ""},
	{"accumulate", "8,1K,64K,1M"}, {"bulk", "1K,64K,1M"},
	{"own_put", "8,64K,1M"}, {"own_get", "8,64K,1M"},
	{"lock", ""}, {"lock_both", ""}, {"fence", ""}, {"post", ""}, {"flag", ""}, {"busy", ""},
	{"shmem_put", ""}, {"shmem_inc", ""}, {"shmem_lock", ""},
}

// oneSidedTasks are one for each operation, so that a peer that fails in one operation has the
// others.
func oneSidedTasks(budget []string) (ts []task) {
	for _, o := range oneSidedOps {
		args := []string{"-ops", o.op}
		if o.sizes != "" {
			args = append(args, "-sizes", o.sizes)
		}
		ts = append(ts, task{suite: oneSided, n: 2, verb: o.op, args: append(args, budget...)})
	}
	return ts
}

// A oneSidedRow is a row of the suite, without its prefix.
type oneSidedRow struct {
	op   string
	size int // bytes; 0 where the size has no meaning
}

// oneSidedBounds are relative to the best peer with a right result.
var oneSidedBounds = map[oneSidedRow]float64{
	{"put", 8}: 0.6, {"put", 1 << 10}: 0.8, {"put", 4 << 10}: 0.9, {"put", 64 << 10}: 1, {"put", 1 << 20}: 1.05, {"put", 4 << 20}: 1.1,
	{"put64", 8}: 0.5,
	{"get", 8}:   0.4, {"get", 64 << 10}: 1, {"get", 1 << 20}: 1,
	{"fetch_add", 8}: 0.5, {"cas", 8}: 0.5,
	{"accumulate", 8}: 0.6, {"bulk", 1 << 10}: 0.8, {"bulk", 64 << 10}: 1, {"bulk", 1 << 20}: 0.8,
	{"own_get", 8}: 0.6, {"own_get", 64 << 10}: 0.6, {"own_get", 1 << 20}: 0.6,
	{"lock", 0}: 0.4, {"lock_both", 0}: 1, {"fence", 0}: 1, {"post", 0}: 0.8, {"flag", 8}: 1, {"busy", 8}: 1,
}

func oneSidedTarget(op string, size int) (target, bool) {
	bound, ok := oneSidedBounds[oneSidedRow{op, size}]
	return target{best, "<=", bound}, ok
}
