/* The twin of bench/measure/coll: collectives over all ranks, or with -nonblocking what a
   computation hides of those that do not block. What a size means, and which are left
   out, says the Go program. */
#include "common.h"

static size_t size;
static int bytes, numbers, part; /* of a block; elements of a vector, and of a rank's part of one */
static void *dst, *src;
static MPI_Request request;

#define REPEAT(call) \
  for (long i = 0; i < iters; i++) call

/* A verb and its twin share their arguments but the last. */
#define VERB(name, Name, ...)                                                        \
  static void name(long iters) { REPEAT(MPI_##Name(__VA_ARGS__, MPI_COMM_WORLD)); } \
  static void i##name(void) { MPI_I##name(__VA_ARGS__, MPI_COMM_WORLD, &request); }

static void barrier(long iters) { REPEAT(MPI_Barrier(MPI_COMM_WORLD)); }
static void ibarrier(void) { MPI_Ibarrier(MPI_COMM_WORLD, &request); }
VERB(bcast, Bcast, src, bytes, MPI_BYTE, 0)
VERB(reduce, Reduce, src, dst, numbers, MPI_DOUBLE, MPI_SUM, 0)
VERB(allreduce, Allreduce, src, dst, numbers, MPI_DOUBLE, MPI_SUM)
VERB(allgather, Allgather, src, bytes, MPI_BYTE, dst, bytes, MPI_BYTE)
VERB(alltoall, Alltoall, src, bytes, MPI_BYTE, dst, bytes, MPI_BYTE)
VERB(gather, Gather, src, bytes, MPI_BYTE, dst, bytes, MPI_BYTE, 0)
VERB(scatter, Scatter, src, bytes, MPI_BYTE, dst, bytes, MPI_BYTE, 0)
VERB(reduce_scatter_block, Reduce_scatter_block, src, dst, part, MPI_DOUBLE, MPI_SUM)
VERB(scan, Scan, src, dst, numbers, MPI_DOUBLE, MPI_SUM)

/* What a buffer needs: one block of size bytes, or one for each rank. */
enum need { NONE, ONE, ALL, ALL_AT_ROOT };

static const struct verb {
  const char *name;
  loop f;
  void (*start)(void);
  enum need src, dst;
} verbs[] = {{"barrier", barrier, ibarrier, NONE, NONE},
             {"bcast", bcast, ibcast, ONE, NONE},
             {"reduce", reduce, ireduce, ONE, ONE},
             {"allreduce", allreduce, iallreduce, ONE, ONE},
             {"allgather", allgather, iallgather, ONE, ALL},
             {"alltoall", alltoall, ialltoall, ALL, ALL},
             {"gather", gather, igather, ONE, ALL_AT_ROOT},
             {"scatter", scatter, iscatter, ALL_AT_ROOT, ONE},
             {"reduce_scatter", reduce_scatter_block, ireduce_scatter_block, ONE, NONE},
             {"scan", scan, iscan, ONE, ONE}};

static size_t room(enum need need, size_t one, int root) {
  if (need == NONE) return 0;
  return need == ALL || (need == ALL_AT_ROOT && root) ? one * (size_t)ranks : one;
}

enum { FILL = 0x3f }; /* so that numbers are ordinary, and not 0: see buffer */

enum { MEMORY_MAX = 256 << 20 }; /* for the buffers of a rank */

/* fits says whether the rank that needs most has room. The part of reduce_scatter that
   a rank gets is small. */
static int fits(const struct verb *v, size_t one) {
  size_t extra = v->f == reduce_scatter_block ? one / (size_t)ranks : 0;
  return room(v->src, one, 1) + room(v->dst, one, 1) + extra <= MEMORY_MAX;
}

static void slowest(double *v) {
  MPI_Allreduce(MPI_IN_PLACE, v, plan.batches, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int b = 0; b < plan.batches; b++) v[b] *= 1e6;
}

/* The computation between a start and its wait: as bench/measure/coll/work.go. */
static unsigned long long state = 1;
static double steps_per_us;
static long steps;

static void work(long n) {
  unsigned long long x = state;
  for (long i = 0; i < n; i++) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    __asm__ volatile("" : "+r"(x));
  }
  state = x;
}

static void calibrate(void) {
  double best = 1e9;
  for (int i = 0; i < 50; i++) {
    double t0 = now();
    work(1 << 15);
    double t = now() - t0;
    if (t < best) best = t;
  }
  steps_per_us = (1 << 15) / ((best > 1e-9 ? best : 1e-9) * 1e6);
}

static const struct verb *measured;
static void work_alone(long iters) { REPEAT(work(steps)); }

static void around(long iters) {
  for (long i = 0; i < iters; i++) {
    measured->start();
    if (steps > 0) work(steps);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *v, int n) {
  double sorted[BATCHES_MAX];
  memcpy(sorted, v, (size_t)n * sizeof *v);
  qsort(sorted, (size_t)n, sizeof *sorted, by_value);
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void overlap(const struct verb *v) {
  static double overall[BATCHES_MAX], compute[BATCHES_MAX], pure[BATCHES_MAX], hidden[BATCHES_MAX];
  char name[64];
  measured = v;
  steps = 0;
  around(1); /* the call that the Go program checks */
  measure(around, size, pure);
  slowest(pure);
  steps = (long)(median(pure, plan.batches) * steps_per_us);
  if (steps < 1) steps = 1;
  measure(work_alone, size, compute);
  slowest(compute);
  measure(around, size, overall);
  slowest(overall);
  for (int b = 0; b < plan.batches; b++) {
    double percent = 100 * (1 - (overall[b] - compute[b]) / pure[b]);
    hidden[b] = percent < 0 ? 0 : percent > 100 ? 100 : percent;
  }
  const struct {
    const char *suffix, *unit;
    double *v;
  } columns[] = {{"", "us", overall}, {"_compute", "us", compute}, {"_pure", "us", pure}, {"_overlap", "%", hidden}};
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "i%s%s", v->name, columns[i].suffix);
    put(name, size, columns[i].unit, columns[i].v, plan.batches);
  }
}

static void blocking(const struct verb *v) {
  static double times[BATCHES_MAX];
  v->f(1); /* the call that the Go program checks */
  measure(v->f, size, times);
  slowest(times);
  put(v->name, size, "us", times, plan.batches);
}

static void run(const struct verb *v, size_t one) {
  size = one;
  bytes = (int)size;
  numbers = size / 8 > 0 ? (int)(size / 8) : 1;
  part = numbers / ranks > 0 ? numbers / ranks : 1;
  size_t least = 8 * (size_t)ranks; /* a vector has a number, a part of one too */
  dst = buffer(room(v->dst, size, rank == 0) + size / (size_t)ranks + least, FILL);
  src = buffer(room(v->src, size, rank == 0) + least, FILL);
  (plan.nonblocking ? overlap : blocking)(v);
  free(dst);
  free(src);
}

int main(int argc, char **argv) {
  start(argc, argv, "barrier,bcast,reduce,allreduce,allgather,alltoall,gather,scatter,reduce_scatter,scan",
        "8,64,512,1K,4K,16K,64K,256K,1M,4M", 21);
  if (plan.nonblocking) calibrate();
  for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
    const struct verb *v = &verbs[k];
    if (!wants(v->name)) continue;
    if (v->f == barrier) run(v, 0);
    for (int i = 0; i < plan.nsizes && v->f != barrier; i++)
      if (fits(v, plan.sizes[i])) run(v, plan.sizes[i]);
  }
  MPI_Finalize();
  return 0;
}
