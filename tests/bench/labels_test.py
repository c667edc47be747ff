"""What rows are called whose metric tells a kind and a number besides the size."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
from labels import label  # noqa: E402


class Labels(unittest.TestCase):
    def test_each_kind_of_row(self):
        for metric, size, text in (
            ("posted-random", 64, "64 receives posted, random order"),
            ("unexpected-in_order", 1, "1 message unexpected, in order"),
            ("bandwidth-cold-1048576", 1, "1 MiB behind 1 receive, caches emptied"),
            ("bandwidth-warm-1", 8192, "1 B behind 8192 receives, caches warm"),
            ("pairs-own", 1, "2 × 1 thread, 8 B, own communicators"),
            ("oneway-own", 4, "2 × 4 threads, one way, 8 B, own communicators"),
            ("sizes-everywhere-4", 1024, "2 × 4 processes, 1 KiB, MPI everywhere"),
            ("without-locks", 2, "2 × 2 threads, 8 B, no locks, no atomics"),
            ("self", 1, "to oneself, 1 thread, 8 B"),
            ("allreduce", 16, "allreduce, 8 B, 16 ranks"),
            ("coll-blocking-barrier-4", 0, "barrier, 4 ranks"),
            ("coll-persistent-allgather-16", 8192, "allgather, 8 KiB, 16 ranks, persistent"),
            ("coll-init-bcast-2", 8, "bcast, 8 B, 2 ranks, to make the request"),
            ("sync-fence", 4, "MPI_Win_fence, 4 ranks"),
            ("put-bandwidth-create", 4096, "put, 4 KiB, 32 in a flush, MPI_Win_create"),
            ("puts-allocate-16", 512, "put 512 B, 16 in an epoch, MPI_Win_allocate"),
            ("asleep-lock-shared", 2, "target asleep: lock, put 8 B, flush, unlock, MPI_Win_allocate_shared"),
            ("putrate-own", 1, "put 8 B, 1 thread, own windows"),
            ("putrate-everywhere", 4, "put 8 B, 4 processes, MPI everywhere"),
            ("bands-hints-2", 1 << 20, "band of 1 MiB, 2 × 2 threads, one window, hints"),
            ("blocks-everywhere-2-get", 16, "get two tiles of 16 x 16, 2 × 2 processes, MPI everywhere"),
            ("blocks-one-1-update", 4, "accumulate a tile of 4 x 4, 2 × 1 thread, one window"),
            ("rmahalo-pscw-2", 1024, "halo by puts, faces of 1 KiB, 2 × 2 threads: post, start, complete, wait"),
            ("flow-recovery-flood-resent", 16, "all to one, any source, recovery: sent again"),
            ("flow-mpi-slow-time", 16, "pairs beside a slow one, MPI: time"),
            ("flood-reverse-2", 1024, "1 sender of 1 KiB, youngest first"),
            ("few-order-16-disables", 8, "15 senders of 8 B, in order, 1000 kept: disabled"),
            ("long-late-eager", 131072, "128 KiB, 100 µs later, eager"),
            ("dropped-found-rendezvous", 131072, "128 KiB, receive when found, rendezvous, dropped"),
            ("part-16-10-4", 65536, "64 KiB, 16 threads, 10 ms + 4 %: partitioned"),
            ("new", 2048, "new, 2 KiB"),
        ):
            with self.subTest(metric=metric):
                self.assertEqual(label({"metric": metric, "size": size}), text)


if __name__ == "__main__":
    unittest.main()
