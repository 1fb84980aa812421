/* What the C twins share: the flags, the number of iterations and the output of
   the Go programs. One line of JSON for each operation and size, by rank 0. */
#ifndef COMMON_H
#define COMMON_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES_MAX = 64, BATCHES_MAX = 4096, ITERS_MAX = 1 << 24 };

static struct plan {
  const char *ops;
  size_t sizes[SIZES_MAX];
  int nsizes;
  int batches;
  long iters;     /* in a batch; 0: as many as fill seconds */
  double seconds; /* for all batches of one size together */
  double lead;    /* ulfm: how long ahead a death is announced */
  int nonblocking; /* coll: the twins that do not block */
} plan;

static int rank, ranks;

/* The clock that all processes of the machine share, in seconds. */
static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void usage(const char *what, const char *value) {
  if (rank == 0) fprintf(stderr, "bad %s: %s\n", what, value);
  exit(2);
}

static inline double duration(const char *s) {
  char *unit;
  double v = strtod(s, &unit);
  if (unit != s && v > 0) {
    if (!strcmp(unit, "ms")) return v / 1e3;
    if (!strcmp(unit, "s")) return v;
  }
  usage("duration", s);
  return 0;
}

static inline void read_sizes(const char *s) {
  plan.nsizes = 0;
  for (const char *p = s;; p++) {
    char *end;
    unsigned long v = strtoul(p, &end, 10);
    if (end == p || plan.nsizes == SIZES_MAX) usage("size", s);
    if (*end == 'K') v <<= 10, end++;
    else if (*end == 'M') v <<= 20, end++;
    plan.sizes[plan.nsizes++] = v;
    if (!*end) return;
    if (*end != ',') usage("size", s);
    p = end;
  }
}

/* start initialises MPI and reads the command line. */
static inline void start(int argc, char **argv, const char *ops, const char *sizes, int batches) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  plan = (struct plan){.ops = ops, .batches = batches, .seconds = 0.2, .lead = 0.3};
  read_sizes(sizes);
  for (int i = 1; i < argc; i++) {
    const char *flag = argv[i];
    if (!strcmp(flag, "-json")) continue;
    if (!strcmp(flag, "-nonblocking")) {
      plan.nonblocking = 1;
      continue;
    }
    if (i + 1 == argc) usage("flag", flag);
    const char *value = argv[++i];
    if (!strcmp(flag, "-ops")) plan.ops = value;
    else if (!strcmp(flag, "-sizes")) read_sizes(value);
    else if (!strcmp(flag, "-batches")) plan.batches = atoi(value);
    else if (!strcmp(flag, "-iters")) plan.iters = atol(value);
    else if (!strcmp(flag, "-time")) plan.seconds = duration(value);
    else if (!strcmp(flag, "-lead")) plan.lead = duration(value);
    else usage("flag", flag);
  }
  if (plan.batches < 1 || plan.batches > BATCHES_MAX || plan.iters < 0) usage("number", "-batches or -iters");
}

/* wants says whether the operation is on the list of -ops. */
static inline int wants(const char *op) {
  size_t n = strlen(op);
  for (const char *p = plan.ops; p; p = strchr(p, ','), p = p ? p + 1 : p)
    if (!strncmp(p, op, n) && (p[n] == ',' || !p[n])) return 1;
  return 0;
}

/* A buffer of bytes that are not 0: the compiler makes calloc of malloc and memset to 0,
   and what nobody has written is one page of the kernel's, which reads much faster. */
static inline void *buffer(size_t n, int fill) {
  void *p = malloc(n ? n : 1);
  if (!p) abort();
  memset(p, fill, n ? n : 1);
  return p;
}

typedef void (*loop)(long iters);

static inline double once(loop f, long iters) {
  MPI_Barrier(MPI_COMM_WORLD);
  double t0 = now();
  f(iters);
  return now() - t0;
}

/* iterations is how many a batch has: the same trials as the Go programs'. */
static inline long iterations(loop f, size_t size) {
  if (plan.iters > 0) {
    f(plan.iters / 10 > 0 ? plan.iters / 10 : 1);
    return plan.iters;
  }
  double share = plan.seconds / plan.batches;
  f(size > 8 << 10 ? 10 : 100); /* as in OSU's programs */
  for (long iters = 1;;) {
    double a = once(f, iters), b = once(f, iters), t = a < b ? a : b;
    MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (t * 4 < share && iters < ITERS_MAX) {
      iters = iters * 4 < ITERS_MAX ? iters * 4 : ITERS_MAX;
      continue;
    }
    double n = (double)iters * share / (t > 1e-9 ? t : 1e-9);
    return n < 1 ? 1 : n > ITERS_MAX ? ITERS_MAX : (long)n;
  }
}

/* measure fills seconds with the mean of each batch at this rank. */
static inline void measure(loop f, size_t size, double *seconds) {
  long iters = iterations(f, size);
  for (int b = 0; b < plan.batches; b++) seconds[b] = once(f, iters) / (double)iters;
}

/* What a check found in what was measured last; NULL if nothing. The record says it, and no figure of it counts. */
static const char *wrong;

static inline void put(const char *bench, size_t size, const char *unit, const double *v, int n) {
  if (rank != 0) return;
  printf("{\"bench\":\"%s\",\"n\":%d,\"size\":%zu,\"unit\":\"%s\",\"batches\":[", bench, ranks, size, unit);
  for (int i = 0; i < n; i++) printf("%s%.9g", i ? "," : "", v[i]);
  if (wrong) printf("],\"wrong\":\"%s\"}\n", wrong);
  else printf("]}\n");
  fflush(stdout);
}
#endif
