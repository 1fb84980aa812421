package recovery

// AwaitFiles returns once the file of this rank is written or has failed. If manifests is true and
// this rank is the publisher, AwaitFiles also waits for the version to be published. In a test
// whose ranks all call AwaitFiles before each step, versions are written and published at the same
// commits however fast the disk is: the first commit begins a version, the second one publishes it.
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
