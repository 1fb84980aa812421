/* The twin of bench/measure/ulfm: what a failure costs; the last rank dies by SIGKILL.
   The phases have the same names. It needs an MPI with ULFM and its mpi-ext.h. */
#include "common.h"
#include <mpi-ext.h>
#include <signal.h>

static MPI_Comm on; /* what the batches run on */

static void agree(void) {
  int flag = -1;
  MPIX_Comm_agree(on, &flag);
}

static void allreduce(void) {
  double one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, on);
}

/* ranks stays the number at the start, also on the lines of the survivors. */
static void batches(const char *name, void (*call)(void)) {
  double v[BATCHES_MAX];
  long iters = plan.iters ? plan.iters : ranks <= 8 ? 200 : ranks <= 32 ? 50 : 15;
  for (int b = 0; b < plan.batches; b++) {
    call();
    double t0 = now();
    for (long i = 0; i < iters; i++) call();
    v[b] = (now() - t0) * 1e6 / (double)iters;
  }
  put(name, 0, "us", v, plan.batches);
}

/* announce tells all members the same moment, which is ahead. */
static double announce(MPI_Comm c) {
  MPI_Barrier(c);
  double at = now() + plan.lead;
  MPI_Bcast(&at, 1, MPI_DOUBLE, 0, c);
  return at;
}

static void ready(MPI_Comm c, int me, int n) {
  char token = 0;
  if (me != n - 1) {
    MPI_Send(&token, 1, MPI_BYTE, n - 1, 0, c);
    return;
  }
  for (int r = 0; r < n - 1; r++) MPI_Recv(&token, 1, MPI_BYTE, r, 0, c, MPI_STATUS_IGNORE);
}

static void expect(const char *what, int rc, int a, int b) {
  int class = MPI_SUCCESS;
  if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
  if (class == a || class == b) return;
  fprintf(stderr, "ulfm: rank %d: %s gave error class %d\n", rank, what, class);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Comm death(MPI_Comm c) {
  double at = announce(c), us[4];
  int x, flag = 1;
  ready(c, rank, ranks);
  if (rank == ranks - 1) {
    while (now() < at) {
    }
    raise(SIGKILL);
  }
  int rc = MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 77, c, MPI_STATUS_IGNORE);
  us[0] = (now() - at) * 1e6;
  expect("the receive", rc, MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING);

  double t0 = now();
  rc = MPIX_Comm_agree(c, &flag);
  us[1] = (now() - t0) * 1e6;
  expect("the agreement after the death", rc, MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED);

  t0 = now();
  MPIX_Comm_failure_ack(c);
  rc = MPIX_Comm_agree(c, &flag);
  us[2] = (now() - t0) * 1e6;
  expect("the agreement after the acknowledgement", rc, MPI_SUCCESS, MPI_SUCCESS);

  MPI_Comm s;
  t0 = now();
  rc = MPIX_Comm_shrink(c, &s);
  us[3] = (now() - t0) * 1e6;
  expect("shrink", rc, MPI_SUCCESS, MPI_SUCCESS);

  MPI_Allreduce(MPI_IN_PLACE, us, 4, MPI_DOUBLE, MPI_MAX, s);
  MPI_Comm_rank(s, &rank);
  put("detect", 0, "us", us, 1);
  put("agree_detecting", 0, "us", us + 1, 1);
  put("ack_agree", 0, "us", us + 2, 1);
  put("shrink", 0, "us", us + 3, 1);
  return s;
}

/* revocation has rank 0 revoke while all others wait for a message of it. */
static void revocation(MPI_Comm s) {
  MPI_Comm r;
  int x;
  MPI_Comm_dup(s, &r);
  MPI_Comm_set_errhandler(r, MPI_ERRORS_RETURN);
  double at = announce(s);
  if (rank == 0) {
    while (now() < at) {
    }
    MPIX_Comm_revoke(r);
  }
  int rc = MPI_Recv(&x, 1, MPI_INT, 0, 5, r, MPI_STATUS_IGNORE);
  double us = (now() - at) * 1e6;
  expect("the receive on the revoked communicator", rc, MPIX_ERR_REVOKED, MPIX_ERR_REVOKED);
  MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, s);
  put("revoke", 0, "us", &us, 1);
}

int main(int argc, char **argv) {
  start(argc, argv, "", "0", 15);
  if (ranks < 2) usage("number of ranks", "want at least 2, one of them to die");
  MPI_Comm c;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  on = c;
  batches("agree", agree);
  batches("allreduce_before", allreduce);
  MPI_Comm s = death(c);
  MPI_Comm_set_errhandler(s, MPI_ERRORS_RETURN);
  on = s;
  batches("agree_shrunk", agree);
  batches("allreduce_shrunk", allreduce);
  revocation(s);
  MPI_Finalize();
  return 0;
}
