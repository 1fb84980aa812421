package rm

import "strings"

// The variables of ours.
const (
	bootVariable   = "GOULFM_BOOT"   // internal/joblaunch/boot's
	AloneVariable  = "GOULFM_ALONE"  // 1: a world of one, whatever else is there
	JoinedVariable = "GOULFM_JOINED" // what a Claim's Mark left
)

// remedy ends each error about evidence.
const remedy = "use srun, mpiexec, mpirun or goulfm run, or set " + AloneVariable + "=1 for a world of one"

// Recognise says who a process is, by its environment, in which entries are as in
// os.Environ. socket says whether a descriptor is a socket with a peer that has not
// closed it; it is asked about PMI_FD at most. nil is for "none is".
//
// An error wraps ErrEvidence: the process is one of several and cannot know which. It
// must not go on as a world of one.
//
// A claim of PMI has no key yet, and by PMI_PORT neither rank nor size: WithServer
// completes it.
func Recognise(env []string, socket func(fd int) bool) (Claim, error) {
	r := &reading{vars: index(env), socket: socket}
	r.pmi() // all rows, also below one that holds: their claims are for its mark
	r.openMPI()
	r.slurm()
	r.kubernetes()
	if r.has(bootVariable) { // nothing that is wrong elsewhere concerns who has been told all
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

// reading is what one call of Recognise has found.
type reading struct {
	vars
	socket  func(fd int) bool
	claims  []Claim  // by the rows 3 to 6, those that hold, in order
	ignored []string // what does not count, and why
	broken  []broken // what was meant to say that this process is one of several, and does not do
	wrong   error    // what is wrong with what a person has set for row 6
}

// broken is evidence that cannot be used.
type broken struct{ variable, problem string }

// hold notes a claim that a row has come to.
func (r *reading) hold(c Claim) { r.claims = append(r.claims, c) }

// fail notes evidence that cannot be used. It is an error only if no row holds.
func (r *reading) fail(variable, problem string) {
	r.broken = append(r.broken, broken{variable, problem})
}

// ignore notes what does not count, for people.
func (r *reading) ignore(line string) { r.ignored = append(r.ignored, line) }

// decide takes the first claim; none at all is a world of one only if nothing says that
// this process is one of several.
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

// over completes the claim that has won with what else there was: the claims from first
// on have lost.
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
		if c.step == nil || lost.Engine != Slurm { // of those two WithServer decides
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

// Spent returns the names of the variables in env that belong to the identity of a
// process, and to nobody whom it starts: who has joined a world takes them out of its
// environment. Slurm's stay, since a child may call srun; the mark is for them.
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
