/* The twin of bench/measure/rma's operations on a symmetric heap, by OpenSHMEM, for libraries that have it beside MPI, which
   starts, times and prints as in the other twins. Rank 0 accesses an object of rank 1; put and increment are followed by
   shmem_quiet, since only then have they happened. */
#include "common.h"
#include <shmem.h>

static long *object, *mutex, done; /* both symmetric; increments so far */

/* A loop of rank 0; the others wait in the next barrier. */
#define FIRST(name, ...)                             \
  static void name(long iters) {                     \
    if (rank != 0) return;                           \
    for (long i = 0; i < iters; i++) { __VA_ARGS__; } \
    done += iters;                                   \
  }

static void put_and_wait(void) {
  shmem_long_p(object, 1, 1);
  shmem_quiet();
}

static void add_and_wait(void) {
  shmem_long_atomic_inc(object, 1);
  shmem_quiet();
}

static void locked(void) {
  shmem_set_lock(mutex);
  shmem_clear_lock(mutex);
}

FIRST(put_one, put_and_wait())
FIRST(inc, add_and_wait())
FIRST(lock, locked())

/* check says at rank 0 what is wrong with the object of rank 1, NULL if nothing is. */
static const char *check(loop f) {
  static char found[64];
  shmem_barrier_all();
  long want = f == inc ? done : f == put_one ? 1 : 0, is = shmem_long_g(object, 1);
  if (is == want) return NULL;
  snprintf(found, sizeof found, "the object is %ld, not %ld", is, want);
  return found;
}

static void run(const char *op, loop f, size_t size) {
  double v[BATCHES_MAX];
  if (!wants(op)) return;
  *object = done = 0;
  shmem_barrier_all();
  measure(f, size, v);
  for (int b = 0; b < plan.batches; b++) v[b] *= 1e6;
  wrong = check(f);
  put(op, size, "us", v, plan.batches);
  shmem_barrier_all();
}

int main(int argc, char **argv) {
  start(argc, argv, "shmem_put,shmem_inc,shmem_lock", "8", 21);
  if (ranks < 2) usage("number of ranks", "want at least 2");
  shmem_init();
  object = shmem_calloc(1, sizeof *object);
  mutex = shmem_calloc(1, sizeof *mutex);
  run("shmem_put", put_one, 8);
  run("shmem_inc", inc, 8);
  run("shmem_lock", lock, 0);
  shmem_free(mutex);
  shmem_free(object);
  shmem_finalize();
  int over;
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
  return 0;
}
