/* The twin of bench/coll: collectives over all ranks. The size is that of the
   longest buffer of a rank; see the Go program. */
#include "common.h"

static size_t size;
static int numbers, part; /* elements of reductions; bytes of each rank's part */
static void *dst, *src;

#define REPEAT(call) \
  for (long i = 0; i < iters; i++) call

static void barrier(long iters) { REPEAT(MPI_Barrier(MPI_COMM_WORLD)); }
static void bcast(long iters) { REPEAT(MPI_Bcast(src, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD)); }
static void reduce(long iters) { REPEAT(MPI_Reduce(src, dst, numbers, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD)); }
static void allreduce(long iters) { REPEAT(MPI_Allreduce(src, dst, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); }
static void allgather(long iters) { REPEAT(MPI_Allgather(src, part, MPI_BYTE, dst, part, MPI_BYTE, MPI_COMM_WORLD)); }
static void alltoall(long iters) { REPEAT(MPI_Alltoall(src, part, MPI_BYTE, dst, part, MPI_BYTE, MPI_COMM_WORLD)); }
static void gather(long iters) { REPEAT(MPI_Gather(src, part, MPI_BYTE, dst, part, MPI_BYTE, 0, MPI_COMM_WORLD)); }
static void scatter(long iters) { REPEAT(MPI_Scatter(src, part, MPI_BYTE, dst, part, MPI_BYTE, 0, MPI_COMM_WORLD)); }

static const struct {
  const char *name;
  loop f;
} ops[] = {{"barrier", barrier}, {"bcast", bcast}, {"reduce", reduce}, {"allreduce", allreduce},
           {"allgather", allgather}, {"alltoall", alltoall}, {"gather", gather}, {"scatter", scatter}};

static void run(const char *op, loop f, size_t bytes) {
  double v[BATCHES_MAX];
  size = bytes;
  numbers = size / 8 > 0 ? (int)(size / 8) : 1;
  part = size / (size_t)ranks > 0 ? (int)(size / (size_t)ranks) : 1;
  size_t room = size + 8 > (size_t)part * (size_t)ranks ? size + 8 : (size_t)part * (size_t)ranks;
  dst = buffer(room, 0);
  src = buffer(room, 0);
  f(1); /* the call that the Go program checks */
  measure(f, v);
  MPI_Allreduce(MPI_IN_PLACE, v, plan.batches, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int b = 0; b < plan.batches; b++) v[b] *= 1e6;
  put(op, f == barrier ? 0 : size, "us", v, plan.batches);
  free(dst);
  free(src);
}

int main(int argc, char **argv) {
  start(argc, argv, "barrier,bcast,reduce,allreduce,allgather,alltoall,gather,scatter", "8,64,512,1K,4K,16K,64K,256K,1M,4M", 21);
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    if (!wants(ops[k].name)) continue;
    for (int i = 0; i < plan.nsizes && (i == 0 || ops[k].f != barrier); i++)
      run(ops[k].name, ops[k].f, ops[k].f == barrier ? 8 : plan.sizes[i]);
  }
  MPI_Finalize();
  return 0;
}
