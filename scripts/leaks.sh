#!/usr/bin/env bash
# Runs a command and reports everything that it leaves behind: processes, shared memory, and files,
# folders and sockets in TMPDIR or XDG_RUNTIME_DIR. The exit code is the command's, or 3 if the
# command succeeds and leaves something.
#
#   scripts/leaks.sh COMMAND...
#
# The command gets a TMPDIR and an XDG_RUNTIME_DIR of its own, so other programs of the same user
# cannot be taken for leftovers. A process belongs to the command if its environment, its program, its
# working directory or one of its open files or mappings names that folder. Sockets without a path end
# with the process that holds them. Left processes are killed.
set -euo pipefail

(($#)) || { echo "usage: scripts/leaks.sh COMMAND..." >&2; exit 2; }

own=$(mktemp -d "${TMPDIR:-/tmp}/lk.XXXX") # short: the path of a socket has at most 107 bytes
mkdir -m 700 "$own/t" "$own/r"

# shared lists POSIX and System V shared memory of this user, one object a line.
shared() {
	find /dev/shm -mindepth 1 -user "$(id -u)" 2>/dev/null || true
	awk -v uid="$(id -u)" 'NR > 1 && $8 == uid { print "System V segment " $2 }' /proc/sysvipc/shm 2>/dev/null || true
}

# processes lists the processes of the command, without those that have ended and wait for their parent.
processes() {
	{
		grep -lsaF "$own" /proc/[0-9]*/environ /proc/[0-9]*/maps
		find /proc/[0-9]*/cwd /proc/[0-9]*/exe /proc/[0-9]*/fd -lname "*$own/*" 2>/dev/null
	} | cut -d / -f 3 | sort -un | while read -r pid; do
		if [[ -O /proc/$pid ]] && ! grep -qs '^State:.Z' "/proc/$pid/status"; then
			echo "$pid"
		fi
	done || true
}

before=$(shared | sort)
code=0
TMPDIR=$own/t XDG_RUNTIME_DIR=$own/r "$@" || code=$?

# A process that was killed a moment ago may take some time to end.
until=$((SECONDS + 5))
while left=$(processes) && [[ -n $left ]] && ((SECONDS < until)); do
	sleep 0.2
done

leftovers=0
report() {
	leftovers=$((leftovers + 1))
	echo "left behind: $*" >&2
}
for pid in $left; do
	report "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c 1-200)"
	find "/proc/$pid/fd" -lname 'socket:*' -printf "$pid has the socket %l\n" 2>/dev/null | sed 's/^/             /' >&2 || true
	kill -KILL "$pid" 2>/dev/null || true
done
while read -r name; do
	[[ -z $name ]] || report "shared memory: $name"
done < <(comm -13 <(echo "$before") <(shared | sort))
while IFS=$'\t' read -r kind name; do
	case $kind in
	s) report "socket: $name" ;;
	d) report "folder: $name" ;;
	*) report "file: $name" ;;
	esac
done < <(find "$own/t" "$own/r" -mindepth 1 -maxdepth 2 -printf '%y\t%P\n' | sort -k 2)

chmod -R u+rwX "$own" 2>/dev/null || true
rm -rf "$own"
if ((leftovers)); then
	echo "leaks: $leftovers left behind by: $*" >&2
	((code)) || code=3
else
	echo "leaks: nothing left behind"
fi
exit "$code"
