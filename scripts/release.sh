#!/usr/bin/env bash
# Builds the archives of a release.
#
#   scripts/release.sh files      writes the files that an archive has beside the binary, into bin/release
#   scripts/release.sh snapshot   builds all archives twice, compares their checksums, and examines them
#   scripts/release.sh publish    builds the archives of the tag that is checked out, and uploads them as a draft
#   scripts/release.sh sbom COMMAND FILE
#                                 writes the modules of a command with versions, digests and licences
#   scripts/release.sh notices FOLDER PACKAGE
#                                 prints the licences of Go and of each module in a program
#
# The archives are in bin/dist. snapshot requires root for the run below an empty root directory;
# without root it ends with code 77 after all other steps.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."

GORELEASER=github.com/goreleaser/goreleaser/v2@v2.15.1
CYCLONEDX=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# release prints the version of this source.
release() { sed -n 's/^const release = "\(.*\)"$/\1/p' cmd/goulfm/version.go; }

# goreleaser runs it with the version and the date of the commit.
goreleaser() {
	GOULFM_ROOT=$PWD GOULFM_RELEASE=$(release) GOULFM_DATE=$(git log -1 --format=%cI) GOULFM_TIMESTAMP=$(git log -1 --format=%ct) PATH=$PWD/bin/tools:$PATH \
		bin/tools/goreleaser release --clean --config .goreleaser.yaml "$@"
}

# texts FOLDER prints the licence files of a folder.
texts() {
	local found=0 file
	for file in "$1"/{LICENSE,LICENCE,License,COPYING,NOTICE,PATENTS}*; do
		[[ -f $file ]] || continue
		case ${file##*/} in LICENSE* | LICENCE* | License* | COPYING*) found=1 ;; esac
		printf -- '--- %s\n\n' "${file##*/}"
		cat "$file"
		echo
	done
	if ((found == 0)); then
		echo "release.sh: no licence in $1: add its text before a release" >&2
		return 1
	fi
}

notices() {
	printf 'This program contains the following software.\n\n'
	printf '=== Go standard library and runtime, %s\n\n' "$(go env GOVERSION)"
	texts "$(go env GOROOT)"
	(cd "$1" && GOOS=linux go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' "$2") |
		sort -u | while read -r path version dir; do
		case $path in
		github.com/goulfm/goulfm*) continue ;;
		esac
		printf '=== %s %s\n\n' "$path" "$version"
		texts "$dir"
	done
}

files() {
	local dir=bin/release command page
	rm -rf "$dir"
	mkdir -p "$dir"/goulfm/{completions,man} "$dir/gridrpc"
	go build -o "$dir/tool" ./cmd/goulfm
	for command in bash zsh fish; do
		"$dir/tool" completion "$command" >"$dir/goulfm/completions/goulfm.$command"
	done
	"$dir/tool" man >"$dir/goulfm/man/goulfm.1"
	for page in $("$dir/tool" help | sed -n 's/^  goulfm \([a-z]*\) .*/\1/p'); do
		"$dir/tool" man "$page" >"$dir/goulfm/man/goulfm-$page.1"
	done
	rm "$dir/tool"
	notices . ./cmd/goulfm >"$dir/goulfm/THIRD_PARTY_NOTICES"
	notices gridrpc ./cmd/gridrpc >"$dir/gridrpc/THIRD_PARTY_NOTICES"
}

# sbom COMMAND FILE reads the sources of a command, for GOOS and GOARCH, because a binary does not name
# licences. The modules of this checkout have the version of the release there, and no digest, which
# would cover all files of the folder.
sbom() {
	local folder=. file=$2
	[[ $1 == goulfm ]] || folder=$1
	[[ $file == /* ]] || file=$here/$file
	(cd "$folder" && CGO_ENABLED=0 "$OLDPWD/bin/tools/cyclonedx-gomod" app -json -std -licenses -noserial -notimestamp -main "cmd/$1" -output "$file" .)
	sed -i -E -e "s#(golang/github.com/goulfm/goulfm(/gridrpc)?)@v0\.0\.0-[0-9]+-[0-9a-f]+(%2Bdirty|\+dirty)?#\1@v$(release)#" \
		-e '/"name": "github.com\/goulfm\/goulfm(\/gridrpc)?",$/,/"purl"/{/"hashes": \[/,/^      \],/d}' \
		-e '/"name": "github.com\/goulfm\/goulfm(\/gridrpc)?"/{n;s#"v0\.0\.0-[^"]*"#"v'"$(release)"'"#}' "$file"
}

# tools installs the two programs that make archives into bin/tools.
tools() {
	mkdir -p bin/tools
	GOBIN=$PWD/bin/tools go install "$GORELEASER"
	GOBIN=$PWD/bin/tools go install "$CYCLONEDX"
}

publish() {
	local tag
	tag=$(git describe --exact-match --tags)
	if [[ $tag != "v$(release)" ]]; then
		echo "release.sh: the tag is $tag, and the source has version $(release): tag the commit of the release" >&2
		return 1
	fi
	tools
	goreleaser
}

# dist builds all archives into bin/dist.
dist() {
	goreleaser --snapshot
	rm -rf bin/dist
	mv dist bin/dist
}

# modules FILE prints the modules that the Go toolchain has recorded in a binary.
modules() { go version -m "$1" | awk '$1 == "dep" { print $2 }' | sort; }

snapshot() {
	local version archive binary missing
	version=$(release)
	tools
	dist
	cp bin/dist/checksums.txt bin/first-checksums.txt
	dist
	diff bin/first-checksums.txt bin/dist/checksums.txt
	rm bin/first-checksums.txt
	echo "two builds have the same checksums: $(wc -l <bin/dist/checksums.txt) files"
	(cd bin/dist && sha256sum --quiet -c checksums.txt)

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	for archive in bin/dist/*.tar.gz; do
		mkdir "$work/a"
		tar -xzf "$archive" -C "$work/a"
		for binary in goulfm gridrpc; do
			[[ -f $work/a/$binary ]] || continue
			missing=$(comm -23 <(modules "$work/a/$binary") <(sed -n 's/.*"name": "\(.*\)",$/\1/p' "bin/dist/$(basename "$archive" .tar.gz).cdx.json" | sort -u))
			if [[ -n $missing ]]; then
				echo "the SBOM of $archive lacks: $missing" >&2
				return 1
			fi
			for path in $(modules "$work/a/$binary" | grep -v '^github.com/goulfm/'); do
				if ! grep -q "^=== $path " "$work/a/THIRD_PARTY_NOTICES"; then
					echo "the notices of $archive lack $path" >&2
					return 1
				fi
			done
		done
		rm -r "$work/a"
	done
	echo "each SBOM names every module of its binary, and so do the notices"

	if ((EUID != 0)); then
		echo "the run below an empty root directory requires root" >&2
		return 77
	fi
	mkdir "$work/root"
	tar -xzf "bin/dist/goulfm_${version}_linux_$(go env GOARCH).tar.gz" -C "$work/root" goulfm
	chroot "$work/root" /goulfm version
	chroot "$work/root" /goulfm run -n 4 /goulfm version | sort | uniq -c
	find "$work/root" -mindepth 1 | sed 's/^/left below the root: /'
}

case ${1:-} in
files | snapshot | publish) "$1" ;;
notices | sbom) "$1" "$2" "$3" ;;
*)
	echo "usage: scripts/release.sh files|snapshot|publish|sbom COMMAND FILE|notices FOLDER PACKAGE" >&2
	exit 2
	;;
esac
