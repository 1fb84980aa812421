package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// examineEngine reports which engine started this process, the evidence, and the evidence that was
// ignored.
func examineEngine(context.Context) []finding {
	claim, err := rm.Recognise(os.Environ(), pmi.Alive)
	if err != nil {
		return []finding{{isMissing, "engine", err.Error(), ""}}
	}
	var all []finding
	for i, line := range rm.Explain(claim) {
		what, text, _ := strings.Cut(line, ": ")
		f := well("engine", "%s", text)
		if i > 0 {
			f.text = line
		}
		if what == "survivors" && claim.Caveat() != "" {
			f.grade, f.remedy = isSlow, strings.TrimPrefix(claim.Caveat(), "; ")
		}
		all = append(all, f)
	}
	switch hosts, err := rm.Allocation(os.Environ()); {
	case err != nil:
		all = append(all, finding{isMissing, "allocation", err.Error(), ""})
	case len(hosts) > 0:
		var names []string
		for _, h := range hosts {
			names = append(names, h.Name)
		}
		all = append(all, well("allocation", "goulfm run takes %s", hostlist.Format(names)))
	}
	return all
}

// examineSlurm reports the settings of Slurm that decide about the survivors of a death. On a
// machine without Slurm it returns nil.
func examineSlurm(ctx context.Context, env func(string) string) []finding {
	if _, err := exec.LookPath("scontrol"); err != nil {
		if env("SLURM_JOB_ID") != "" {
			return []finding{{isSlow, "Slurm", "scontrol is not in PATH", "with Slurm's commands in PATH goulfm run can start nodes, and goulfm doctor can report Slurm's settings"}}
		}
		return nil
	}
	text, err := ask(ctx, "scontrol", "show", "config")
	if err != nil {
		return []finding{{isMissing, "Slurm", "scontrol show config: " + err.Error(), "is slurmctld up? scontrol ping shows the state"}, examineMunge(ctx)}
	}
	return append(judgeSlurm(settings(text), env), examineMunge(ctx))
}

// settings reads lines such as "KillWait = 30 sec".
func settings(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, "="); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

// judgeSlurm warns about the settings of the site, and the variables of this process, that end
// survivors.
func judgeSlurm(site map[string]string, env func(string) string) []finding {
	all := []finding{well("Slurm", "after a death: KillOnBadExit=%s, WaitTime=%s; a silent node counts as lost after SlurmdTimeout=%s; TERM is followed by KILL after KillWait=%s; MpiDefault=%s",
		site["KillOnBadExit"], site["WaitTime"], site["SlurmdTimeout"], site["KillWait"], site["MpiDefault"])}
	warn := func(text, remedy string) {
		all = append(all, finding{isSlow, "Slurm", text, remedy})
	}
	overruled := env("SLURM_KILL_BAD_EXIT")
	if site["KillOnBadExit"] == "1" && overruled == "" {
		warn("the site has srun end all tasks with the first that fails", "srun --kill-on-bad-exit=0, or SLURM_KILL_BAD_EXIT=0; goulfm run in the allocation does so itself")
	}
	if overruled != "" && overruled != "0" {
		warn("SLURM_KILL_BAD_EXIT="+overruled+" has srun end all tasks with the first that fails", "unset it")
	}
	if wait := env("SLURM_WAIT"); wait != "" && wait != "0" {
		warn("SLURM_WAIT="+wait+" has srun end all tasks so many seconds after the first has ended", "unset it, or srun --wait=0")
	} else if wait := site["WaitTime"]; wait != "" && wait != "0 sec" && env("SLURM_WAIT") != "0" {
		warn("the site has srun end all tasks "+wait+" after the first has ended", "srun --wait=0")
	}
	if site["JobRequeue"] == "1" {
		all = append(all, well("Slurm", "a batch job that loses a node is started again, beside its processes that still run, unless sbatch has --no-requeue (JobRequeue=1)"))
	}
	return all
}

// examineMunge encodes and decodes a credential with munge, as every command of Slurm does.
func examineMunge(ctx context.Context) finding {
	if _, err := exec.LookPath("munge"); err != nil {
		return well("munge", "is not in PATH; Slurm may know users by something else")
	}
	credential, err := ask(ctx, "munge", "-n")
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, doctorFor)
		defer cancel()
		cmd := exec.CommandContext(ctx, "unmunge")
		cmd.Stdin = strings.NewReader(credential)
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = errOf(err, string(out))
		}
	}
	if err != nil {
		return finding{isMissing, "munge", err.Error(), "Slurm knows users by munge: is munged running on this machine, with the key of the cluster?"}
	}
	return well("munge", "a credential was encoded and decoded")
}

// ask runs a program to its end and returns its standard output.
func ask(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorFor)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", errOf(err, errs.String())
	}
	return out.String(), nil
}

// errOf returns an error with the output of a failed program, joined into one line. Without any
// output it returns err.
func errOf(err error, said string) error {
	if said = strings.Join(strings.Fields(said), " "); said != "" {
		return errors.New(said)
	}
	return err
}
