/* The twin of bench/measure/rma: one-sided operations of rank 0 on the window of rank 1, which makes no call unless the Go
   program says that it does. Each put, get, sum and swap is flushed, since only then has it happened. Windows are
   MPI_Win_allocate's, for own_put and own_get MPI_Win_create's; whoever accesses one has locked it for all, before
   anything is timed. bulk is accumulate once more: MPI does not know the difference. What came out wrong is said in the
   record, and its figures count for nothing. */
#include "common.h"
#include <stdint.h>

enum { MANY_PUTS = 64, COUNTER_AT = 0, FLAG_AT, STOP_AT, WORDS_HERE };

static int count, peer; /* doubles in the window of data; the other one of ranks 0 and 1 */
static MPI_Win data, words;
static double *mine, *buf; /* this rank's window, and what it puts or gets */
static int64_t *mine_words, word, one = 1, zero;
static int64_t turns, done; /* so far: of ranks 0 and 1 together, and what this rank has added */
static MPI_Group others;

/* A loop of rank 0; the others wait in the next barrier. */
#define FIRST(name, ...)                             \
  static void name(long iters) {                     \
    if (rank != 0) return;                           \
    for (long i = 0; i < iters; i++) { __VA_ARGS__; } \
    done += iters;                                   \
  }

/* A loop of ranks 0 and 1. */
#define BOTH(name, ...)                               \
  static void name(long iters) {                      \
    if (rank > 1) return;                             \
    for (long i = 0; i < iters; i++) { __VA_ARGS__; } \
  }

static void start_put(void) { MPI_Put(buf, count, MPI_DOUBLE, peer, 0, count, MPI_DOUBLE, data); }

static void put_and_flush(void) {
  start_put();
  MPI_Win_flush(peer, data);
}

static void put_many(void) {
  for (int i = 0; i < MANY_PUTS; i++) start_put();
  MPI_Win_flush(peer, data);
}

static void get_and_flush(void) {
  MPI_Get(buf, count, MPI_DOUBLE, peer, 0, count, MPI_DOUBLE, data);
  MPI_Win_flush(peer, data);
}

static void sum_and_flush(void) {
  MPI_Accumulate(buf, count, MPI_DOUBLE, peer, 0, count, MPI_DOUBLE, MPI_SUM, data);
  MPI_Win_flush(peer, data);
}

static void fetch(MPI_Op op) {
  MPI_Fetch_and_op(&one, &word, MPI_INT64_T, peer, COUNTER_AT, op, words);
  MPI_Win_flush(peer, words);
}

static void count_and_flush(void) { fetch(MPI_SUM); }

static void replace(void) {
  MPI_Accumulate(&one, 1, MPI_INT64_T, peer, COUNTER_AT, 1, MPI_INT64_T, MPI_REPLACE, words);
  MPI_Win_flush(peer, words);
}

static void swap(void) {
  MPI_Compare_and_swap(&zero, &zero, &word, MPI_INT64_T, peer, COUNTER_AT, words);
  MPI_Win_flush(peer, words);
}

/* The lock of rank 1. */
static void locked(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, words);
  MPI_Win_unlock(1, words);
}

static void expose_and_access(void) {
  MPI_Win_post(others, 0, data);
  MPI_Win_start(others, 0, data);
  MPI_Win_complete(data);
  MPI_Win_wait(data);
}

/* tell puts the turn into a word of the other one. */
static void tell(int at) {
  MPI_Put(&turns, 1, MPI_INT64_T, peer, at, 1, MPI_INT64_T, words);
  MPI_Win_flush(peer, words);
}

/* progress lets a library that moves data inside of calls alone move it. */
static void progress(void) {
  int some;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &some, MPI_STATUS_IGNORE);
}

static int told(int at) {
  MPI_Win_sync(words);
  return *(volatile int64_t *)&mine_words[at] >= turns;
}

static void await(int at) {
  for (long looks = 1; !told(at); looks++)
    if (looks % 100 == 0) progress();
}

/* MPI orders no puts, so the data is flushed before the flag goes. */
static void data_and_flag(void) {
  turns++;
  if (rank == 1) await(FLAG_AT);
  put_and_flush();
  tell(FLAG_AT);
  if (rank == 0) await(FLAG_AT);
}

enum { COMPUTE_MS = 20 };

/* compute computes so long at a time, and looks in between whether it is told to stop: a
   library without a helper of its own moves data then, and not before. */
static void compute(void) {
  volatile double x = 1;
  do {
    for (double end = now() + COMPUTE_MS * 1e-3; now() < end;)
      for (int i = 0; i < 1000; i++) x *= 1.0000001;
    progress();
  } while (!told(STOP_AT));
}

static void busy(long iters) {
  if (rank > 1) return;
  turns++;
  if (rank == 1) {
    compute();
    return;
  }
  for (long i = 0; i < iters; i++) put_and_flush();
  tell(STOP_AT);
}

static void fence(long iters) {
  for (long i = 0; i < iters; i++) MPI_Win_fence(0, data);
}

FIRST(put_one, put_and_flush())
FIRST(put64, put_many())
FIRST(get, get_and_flush())
FIRST(load, fetch(MPI_NO_OP))
FIRST(store, replace())
FIRST(fetch_add, count_and_flush())
FIRST(cas, swap())
FIRST(accumulate, sum_and_flush())
FIRST(lock, locked())
BOTH(lock_both, locked())
BOTH(post, expose_and_access())
BOTH(flag, data_and_flag())

/* What has to be there afterwards: in the buffer of rank 0, in the window of rank 1, or in its counter. */
enum expect { NOTHING, IN_BUFFER, PUT_ONES, SUMMED, COUNTED };
enum { LOCKED = 1, OWN = 2 }; /* windows locked for all; the program's own memory */
enum size { SIZES, EIGHT, NONE };
enum { FILL_OF_TARGET = 3 };

static const struct op {
  const char *name;
  loop f;
  int windows;
  enum size size;
  enum expect expect;
  double parts; /* of an iteration, of which one is the figure */
} ops[] = {{"put", put_one, LOCKED, SIZES, PUT_ONES, 1},
           {"put64", put64, LOCKED, EIGHT, PUT_ONES, MANY_PUTS},
           {"get", get, LOCKED, SIZES, IN_BUFFER, 1},
           {"load", load, LOCKED, EIGHT, NOTHING, 1},
           {"store", store, LOCKED, EIGHT, NOTHING, 1},
           {"fetch_add", fetch_add, LOCKED, EIGHT, COUNTED, 1},
           {"cas", cas, LOCKED, EIGHT, NOTHING, 1},
           {"accumulate", accumulate, LOCKED, SIZES, SUMMED, 1},
           {"bulk", accumulate, LOCKED, SIZES, SUMMED, 1},
           {"own_put", put_one, LOCKED | OWN, SIZES, PUT_ONES, 1},
           {"own_get", get, LOCKED | OWN, SIZES, IN_BUFFER, 1},
           {"lock", lock, 0, NONE, NOTHING, 1},
           {"lock_both", lock_both, 0, NONE, NOTHING, 1},
           {"fence", fence, 0, NONE, NOTHING, 1},
           {"post", post, 0, NONE, NOTHING, 1},
           {"flag", flag, LOCKED, EIGHT, PUT_ONES, 2},
           {"busy", busy, LOCKED, EIGHT, PUT_ONES, 1}};

static void fill(double *v, double with) {
  for (int i = 0; i < count; i++) v[i] = with;
}

static void make_windows(const struct op *op, size_t size) {
  count = (int)(size > 8 ? size / 8 : 1);
  MPI_Aint bytes = (MPI_Aint)count * 8;
  buf = buffer((size_t)bytes, 0);
  fill(buf, 1);
  if (op->windows & OWN) {
    mine = buffer((size_t)bytes, 0);
    MPI_Win_create(mine, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &data);
  } else {
    MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &data);
  }
  MPI_Win_allocate(WORDS_HERE * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine_words, &words);
  fill(mine, op->expect == IN_BUFFER ? FILL_OF_TARGET : 0);
  memset(mine_words, 0, WORDS_HERE * 8);
  turns = done = 0;
  if (op->windows & LOCKED) MPI_Win_lock_all(0, data), MPI_Win_lock_all(0, words), MPI_Win_sync(data), MPI_Win_sync(words);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void free_windows(const struct op *op) {
  if (op->windows & LOCKED) MPI_Win_unlock_all(data), MPI_Win_unlock_all(words);
  MPI_Win_free(&data);
  MPI_Win_free(&words);
  if (op->windows & OWN) free(mine);
  free(buf);
}

enum { CONTENDED = 200 };

/* contend has ranks 0 and 1 add to the window of rank 1 at the same time, which nobody times: what two ranks add to one
   element has to be there twice. */
static void contend(void (*add)(void)) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) {
    peer = 1;
    for (int i = 0; i < CONTENDED; i++) add(), done++;
    peer = 1 - rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static char found[128];

static void check_all(const double *v, double want) {
  for (int i = 0; i < count && !*found; i++)
    if (v[i] != want) snprintf(found, sizeof found, "element %d is %.17g, not %.17g", i, v[i], want);
}

/* check says at rank 0 what is wrong, NULL if nothing is. */
static const char *check(enum expect expect) {
  char theirs[sizeof found];
  *found = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (expect == SUMMED) contend(sum_and_flush);
  if (expect == COUNTED) contend(count_and_flush);
  if (expect != NOTHING) MPI_Win_sync(data), MPI_Win_sync(words);
  if (rank == 0 && expect == IN_BUFFER) check_all(buf, FILL_OF_TARGET);
  if (rank == 1 && expect == PUT_ONES) check_all(mine, 1);
  if (rank == 1 && expect == SUMMED) check_all(mine, (double)done);
  if (rank == 1 && expect == COUNTED && mine_words[COUNTER_AT] != done)
    snprintf(found, sizeof found, "the counter is %lld, not %lld", (long long)mine_words[COUNTER_AT], (long long)done);
  memcpy(theirs, found, sizeof found);
  MPI_Bcast(theirs, sizeof theirs, MPI_CHAR, 1, MPI_COMM_WORLD);
  if (!*found) memcpy(found, theirs, sizeof found);
  return *found ? found : NULL;
}

static void run(const struct op *op, size_t size) {
  double v[BATCHES_MAX];
  make_windows(op, size);
  measure(op->f, size, v);
  for (int b = 0; b < plan.batches; b++) v[b] *= 1e6 / op->parts;
  wrong = check(op->expect);
  put(op->name, size, "us", v, plan.batches);
  free_windows(op);
}

int main(int argc, char **argv) {
  start(argc, argv, "put,put64,get,load,store,fetch_add,cas,accumulate,bulk,own_put,own_get,lock,lock_both,fence,post,flag,busy",
        "8,1K,4K,64K,1M,4M", 21);
  if (ranks < 2) usage("number of ranks", "want at least 2");
  peer = rank == 0 ? 1 : 0;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &peer, &others);
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    const struct op *op = &ops[k];
    if (!wants(op->name)) continue;
    if (op->size != SIZES) run(op, op->size == EIGHT ? 8 : 0);
    for (int i = 0; i < plan.nsizes && op->size == SIZES; i++)
      if (plan.sizes[i] >= 8 && plan.sizes[i] % 8 == 0) run(op, plan.sizes[i]);
  }
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Finalize();
  return 0;
}
