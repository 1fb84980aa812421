#!/usr/bin/env python3
"""The farm of this folder in Dask, to stand beside it.

    python3 bench/farm/farm_dask.py > bench/farm/out/dask.csv

It needs Dask's distributed (Debian: python3-distributed). Eight worker processes of twelve threads are
96 slots, whose jobs wait for 0.28 s. Dask has no agents in between: a worker is killed when 10 % of
the jobs are done, two when 35 % are, and the scheduler when 65 % are.
"""

import csv
import os
import signal
import subprocess
import sys
import tempfile
import time

from distributed import Client, as_completed

JOBS, FIRST, STEP = 1000, 100, 10
WORKERS, THREADS = 8, 12
SECONDS = 0.28
QUIET = 20.0  # seconds without a job that is done, after which a run is over


class Platform:
    """A scheduler and workers, as processes of this machine."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "scheduler.json")
        self.log = open(os.path.join(folder, "log"), "w")
        self.scheduler = self.start("dask_scheduler", "--port", "0")
        self.workers = [self.start("dask_worker", "--nthreads", str(THREADS), "--no-nanny") for _ in range(WORKERS)]

    def start(self, what, *args):
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{what}", "--host", "127.0.0.1", "--no-dashboard",
             "--scheduler-file", self.file, *args],
            stdout=self.log, stderr=self.log)

    def kill(self, processes):
        for p in processes:
            p.send_signal(signal.SIGKILL)

    def end(self):
        for p in [*self.workers, self.scheduler]:
            if p.poll() is None:
                p.kill()
            p.wait()
        self.log.close()


def job():
    time.sleep(SECONDS)


def farm(disturbed):
    """Runs a farm, and returns when each job was done."""
    with tempfile.TemporaryDirectory() as folder:
        platform = Platform(folder)
        try:
            client = Client(scheduler_file=platform.file, timeout=60)
            client.wait_for_workers(WORKERS, timeout=120)
            return drive(client, platform, disturbed)
        finally:
            platform.end()


def drive(client, platform, disturbed):
    deaths = {JOBS // 10: platform.workers[:1], JOBS * 35 // 100: platform.workers[1:3], JOBS * 65 // 100: [platform.scheduler]}
    done, submitted, begun = [], FIRST, time.time()
    under_way = as_completed([client.submit(job, pure=False) for _ in range(FIRST)])
    while len(done) < JOBS:
        future = waited(under_way)
        if future is not None and future.status in ("lost", "pending"):  # its worker has died: it runs again
            under_way.add(future)
            continue
        if future is None or future.status != "finished":
            print(f"lost: {None if future is None else future.status}", file=sys.stderr)
            break
        done.append(time.time() - begun)
        if disturbed:
            platform.kill(deaths.get(len(done), []))
            if len(done) == JOBS * 65 // 100:
                print("the scheduler was killed", file=sys.stderr)
        if len(done) % STEP == 0 and submitted < JOBS:
            for _ in range(STEP):
                try:
                    under_way.add(client.submit(job, pure=False))
                except Exception as e:  # the scheduler is dead
                    print(f"lost: {e}", file=sys.stderr)
                    return done
            submitted += STEP
    return done


def waited(under_way):
    """Returns the next job that has ended, or None."""
    end = time.time() + QUIET
    while time.time() < end:
        if not under_way.queue.empty():
            return next(under_way)
        time.sleep(0.001)
    return None


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["curve", "seconds", "jobs done"])
    for name, disturbed in (("Dask, undisturbed", False), ("Dask, workers and scheduler killed", True)):
        done = farm(disturbed)
        for i, at in enumerate(done):
            if (i + 1) % STEP == 0 or i + 1 == len(done):
                out.writerow([name, f"{at:.3f}", i + 1])
        sys.stdout.flush()
        print(f"{name}: {len(done)} of {JOBS} jobs in {done[-1]:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
