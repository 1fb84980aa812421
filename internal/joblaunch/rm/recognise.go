package rm

import "strings"

// The variables of goulfm.
const (
	bootVariable   = "GOULFM_BOOT"   // of internal/joblaunch/boot
	AloneVariable  = "GOULFM_ALONE"  // 1: a world of one, whatever other variables are set
	JoinedVariable = "GOULFM_JOINED" // the Mark of a Claim
)

// remedy ends each error about evidence.
const remedy = "use srun, mpiexec, mpirun or goulfm run, or set " + AloneVariable + "=1 for a world of one"

// Recognise determines the identity of a process from its environment, which has the form of
// os.Environ. socket reports whether a descriptor is a socket with a peer that has not closed it;
// Recognise calls it only for PMI_FD. A nil socket stands for "none is".
//
// An error wraps ErrEvidence: the process is one of several and its rank is unknown. Such a
// process must not continue as a world of one.
//
// A claim of PMI has no key yet, and by PMI_PORT neither rank nor size: WithServer completes it.
func Recognise(env []string, socket func(fd int) bool) (Claim, error) {
	r := &reading{vars: index(env), socket: socket}
	r.pmi() // all rows, also below one that holds: the mark names their claims
	r.openMPI()
	r.slurm()
	r.kubernetes()
	if r.has(bootVariable) { // a process with GOULFM_BOOT has its whole identity: faults elsewhere do not matter
		c := unknown(Goulfm)
		c.Why = bootVariable + " is set: goulfm started this process"
		return r.over(c, 0), nil
	}
	forced, err := r.forced()
	if err != nil {
		return Claim{}, err
	}
	if forced {
		return alone(AloneVariable + "=1"), nil
	}
	return r.decide()
}

// reading holds the findings of one call of Recognise.
type reading struct {
	vars
	socket  func(fd int) bool
	claims  []Claim  // by the rows 3 to 6, those that hold, in order
	ignored []string // evidence that does not count, with the reason
	broken  []broken // evidence that this process is one of several, without its rank
	wrong   error    // the fault in the user's settings for row 6
}

// broken is evidence that cannot be used.
type broken struct{ variable, problem string }

// hold notes the claim of a row.
func (r *reading) hold(c Claim) { r.claims = append(r.claims, c) }

// fail notes evidence that cannot be used. Such evidence is an error only if no row holds.
func (r *reading) fail(variable, problem string) {
	r.broken = append(r.broken, broken{variable, problem})
}

// ignore notes evidence that does not count, for users.
func (r *reading) ignore(line string) { r.ignored = append(r.ignored, line) }

// decide returns the first claim. Without a claim the process is a world of one only if no
// evidence shows that this process is one of several.
func (r *reading) decide() (Claim, error) {
	switch {
	case len(r.claims) > 0 && marks(r.vars[JoinedVariable], &r.claims[0]):
		c := alone("a process of a world started this one (" + r.show(JoinedVariable) + ")")
		c.Ignored = append(r.ignored, r.claims[0].Why+": that is the place of the process which started this one")
		return c, nil
	case len(r.claims) > 0:
		return r.over(r.claims[0], 1), nil
	case r.wrong != nil:
		return Claim{}, r.wrong
	case len(r.broken) > 0:
		b := r.broken[0]
		return Claim{}, unusable("%s: one of several processes, but %s: %s", r.show(b.variable), b.problem, remedy)
	}
	c := alone("no job engine started this process as one of several")
	c.Ignored = r.ignored
	return c, nil
}

// over completes the winning claim with the other evidence. The claims from index first on have
// lost.
func (r *reading) over(c Claim, first int) Claim {
	for _, b := range r.broken {
		c.Ignored = append(c.Ignored, r.show(b.variable)+": "+b.problem)
	}
	c.Ignored = append(c.Ignored, r.ignored...)
	if r.wrong != nil {
		c.Ignored = append(c.Ignored, r.wrong.Error())
	}
	for i := first; i < len(r.claims); i++ {
		lost := &r.claims[i]
		if c.step == nil || lost.Engine != Slurm { // WithServer decides between these two
			c.Ignored = append(c.Ignored, lost.Why+": "+c.Engine.String()+" goes first")
		}
		if name := lost.name(); name != "" {
			c.Covers = append(c.Covers, name)
		}
	}
	return c
}

// forced reads GOULFM_ALONE.
func (r *reading) forced() (bool, error) {
	switch r.vars[AloneVariable] {
	case "1":
		return true, nil
	case "", "0":
		return false, nil
	}
	return false, unusable("%s: 1 or 0 is expected", r.show(AloneVariable))
}

// Spent returns the names of the variables in env that belong to the identity of this process
// alone. A process that has joined a world removes them from its environment. Slurm's variables
// stay, since a child may call srun; the mark covers them.
func Spent(env []string) []string {
	var names []string
	for _, entry := range env {
		name, _, ok := strings.Cut(entry, "=")
		if ok && spent(name) {
			names = append(names, name)
		}
	}
	return names
}

func spent(name string) bool {
	switch name {
	case "PMIX_RANK", "PMIX_NAMESPACE", localRankVariable, localSizeVariable:
		return true
	}
	return strings.HasPrefix(name, "PMI_") || strings.HasPrefix(name, "OMPI_COMM_WORLD_")
}
