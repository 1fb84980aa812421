#!/bin/sh
# One task of the engine's, with all processors, is the launcher of the ranks: the engine sees a process that ends well, and
# a rank that is killed is the launcher's business. Without it hydra ends all ranks of a node when a signal kills one.
case $(mpiexec --version 2>&1) in
*Open?MPI* | *OpenRTE* | *PRRTE*) exec mpiexec --bind-to none -n 1 goulfm run -n "${1:-4}" ./heat ;;
*) exec mpiexec -n 1 goulfm run -n "${1:-4}" ./heat ;;
esac
