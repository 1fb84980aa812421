/* The twin of bench/measure/p2p: messages between ranks 0 and 1. */
#include "common.h"

enum { WINDOW = 64, DATA = 1, ACK = 2 };

static size_t size;
static char *out, *in, ack;
static MPI_Request sends[WINDOW], recvs[WINDOW];

static void send_data(void) { MPI_Send(out, (int)size, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD); }
static void recv_data(void) { MPI_Recv(in, (int)size, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void isend_all(void) {
  for (int i = 0; i < WINDOW; i++) MPI_Isend(out, (int)size, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD, &sends[i]);
}

static void irecv_all(void) {
  for (int i = 0; i < WINDOW; i++) MPI_Irecv(in, (int)size, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD, &recvs[i]);
}

static void latency(long iters) {
  for (long i = 0; i < iters; i++) {
    if (rank == 0) send_data(), recv_data();
    else if (rank == 1) recv_data(), send_data();
  }
}

static void bandwidth(long iters) {
  for (long i = 0; i < iters; i++) {
    if (rank == 0) {
      isend_all();
      MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
      MPI_Recv(&ack, 1, MPI_BYTE, 1, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      irecv_all();
      MPI_Waitall(WINDOW, recvs, MPI_STATUSES_IGNORE);
      MPI_Send(&ack, 1, MPI_BYTE, 0, ACK, MPI_COMM_WORLD);
    }
  }
}

static void bibandwidth(long iters) {
  if (rank > 1) return;
  for (long i = 0; i < iters; i++) {
    irecv_all();
    isend_all();
    MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(WINDOW, recvs, MPI_STATUSES_IGNORE);
  }
}

static void run(const char *op, loop f, size_t bytes) {
  double v[BATCHES_MAX];
  const char *unit = "MB/s";
  size = bytes;
  out = buffer(size, 1);
  in = buffer(size, 2);
  measure(f, size, v);
  for (int b = 0; b < plan.batches; b++) {
    if (f == latency) unit = "us", v[b] = v[b] / 2 * 1e6;
    else if (!strcmp(op, "rate")) unit = "Mmsg/s", v[b] = WINDOW / v[b] / 1e6;
    else v[b] = (f == bibandwidth ? 2 : 1) * WINDOW * (double)size / v[b] / 1e6;
  }
  put(op, size, unit, v, plan.batches);
  free(out);
  free(in);
}

static void run_sizes(const char *op, loop f) {
  if (!wants(op)) return;
  for (int i = 0; i < plan.nsizes; i++)
    if (f == latency || plan.sizes[i] > 0) run(op, f, plan.sizes[i]);
}

int main(int argc, char **argv) {
  start(argc, argv, "latency,bandwidth,bibandwidth,rate", "0,1,8,64,512,1K,4K,16K,64K,256K,1M,4M", 21);
  if (ranks < 2) usage("number of ranks", "want at least 2");
  run_sizes("latency", latency);
  run_sizes("bandwidth", bandwidth);
  run_sizes("bibandwidth", bibandwidth);
  if (wants("rate")) run("rate", bandwidth, 8);
  MPI_Finalize();
  return 0;
}
