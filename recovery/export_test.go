package recovery

// AwaitFiles returns once the file that this rank writes is written, or could not be; and, if the
// rank is the one that publishes and manifests is true, once what it publishes is there. A test
// whose ranks all call it before each step has versions written and published at the same commits
// however fast the disk is: the first commit begins a version, the second one publishes it.
func (w *World) AwaitFiles(manifests bool) {
	f := w.r.files
	if f == nil {
		return
	}
	if f.open != nil {
		<-f.open.done
	}
	if manifests && f.publishing != nil {
		<-f.publishing
	}
}

// Digest is digest.
func Digest(args []string) string { return digest(args) }
