package park

import "golang.org/x/sys/unix"

// SharesCore reports whether processors are short: on average, the processors on which this process
// may run have more of the processes in pids to run than there are processors. The reason is a
// wrapper (taskset, numactl) or a cpuset that has bound several processes to one processor. Pids
// include this process; SharesCore ignores pids that do not exist.
func SharesCore(pids []int) bool {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) != nil || mine.Count() >= len(pids) {
		return false // also if others may run here, the scheduler has room
	}
	masks := make([]unix.CPUSet, 0, len(pids))
	for _, pid := range pids {
		var mask unix.CPUSet
		if pid > 0 && unix.SchedGetaffinity(pid, &mask) == nil && mask.Count() > 0 {
			masks = append(masks, mask)
		}
	}
	return shares(&mine, masks)
}

// shares is SharesCore of these masks.
func shares(mine *unix.CPUSet, masks []unix.CPUSet) bool {
	load := 0.0
	for i := range masks {
		common := 0
		for cpu := range len(mine) * 64 {
			if mine.IsSet(cpu) && masks[i].IsSet(cpu) {
				common++
			}
		}
		load += float64(common) / float64(masks[i].Count())
	}
	return load > float64(mine.Count())+1e-9
}
