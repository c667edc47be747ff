"""An MPI program where the machine gives too little, or the environment lies: what its user is told."""

import os
import subprocess
import unittest

from harness import DEADLINE, HEDDLE_LIB, Case, mpiexec

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(void) {
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d of %d\n", rank, size);
  MPI_Finalize();
  return 0;
}
"""
MPICC = HEDDLE_LIB.parent / "bin/mpicc"


def sanitized():
    return "-fsanitize" in subprocess.run([MPICC, "--showme:compile"], capture_output=True, text=True, check=True).stdout


class Scarce(Case):
    def setUp(self):
        super().setUp()
        self.program = self.directory / "hello"
        subprocess.run([MPICC, "-o", self.program, self.file("hello.c", HELLO)], check=True, timeout=DEADLINE)

    def alone(self, **environment):
        return subprocess.run([self.program], env={**os.environ, **environment}, capture_output=True, text=True, timeout=DEADLINE)

    def test_file_sizes(self):
        done = mpiexec("-n", 2, "sh", "-c", f"ulimit -f 10; exec {self.program}")
        self.assert_fails(done, 39, "MPI_ERR_NO_MEM", "ulimit -f", "128 MiB of the node's shared memory")

    @unittest.skipIf(sanitized(), "a sanitizer needs more address space than any limit leaves")
    def test_address_space(self):
        # Whichever rank is heard first, it knows why.
        for _ in range(10):
            done = mpiexec("-n", 4, "sh", "-c", f"ulimit -v 200000; exec {self.program}")
            self.assert_fails(done, 39, "MPI_ERR_NO_MEM: mapping 256 MiB", "ulimit -v")

    def test_a_full_dev_shm(self):
        # Nothing of Heddle's is there: 64 ranks run beside 64 MiB that are full to the last page.
        fill = "mount -t tmpfs -o size=64m none /dev/shm && ! cat /dev/zero > /dev/shm/full 2>/dev/null"
        if subprocess.run(["unshare", "-rm", "sh", "-c", fill], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace of our own here")
        done = mpiexec("-rm", "sh", "-c", f"{fill} && exec {os.environ['HEDDLE_MPIEXEC']} -n 64 {self.program}", launcher="unshare")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), sorted(f"rank {rank} of 64" for rank in range(64)))

    def test_output_on_a_full_disk(self):
        with open("/dev/full", "w") as full:
            done = mpiexec("-n", 2, self.program, stdout=full)
        self.assertNotEqual(done.code, 0)
        self.assertIn("mpiexec: cannot write to standard output: No space left on device", done.err)

    @unittest.skipIf(sanitized(), "a sanitizer needs a stack of its own size")
    def test_a_small_stack_is_for_the_ranks(self):
        done = mpiexec("-n", 3, "sh", "-c", "ulimit -s 64; exec " + os.environ["HEDDLE_MPIEXEC"] + f" -n 2 true")
        self.assertEqual((done.code, done.err), (0, ""))

    def test_what_is_left_of_another_job(self):
        done = self.alone(PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual((done.returncode, done.stdout), (16, ""))
        self.assertIn("PMI_SIZE='2' but neither PMI_FD nor PMIX_RANK", done.stderr)
        # One rank alone is what such a job would be; so is what a rank has started itself.
        self.assertEqual(self.alone(PMI_RANK="0", PMI_SIZE="1").stdout, "rank 0 of 1\n")


if __name__ == "__main__":
    unittest.main()
