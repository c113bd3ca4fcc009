// What the launcher (mpirun, srun) says about this process, the rank of a job of several
// processes, before MPI is started or without it.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct Launch {
  int rank = 0;
  int size = 1;
  int local_size = 1;  // ranks on this host; `size` where the launcher does not say
  std::string job;     // the same in all ranks of a job and in no other; empty: it does not say
};

// From the environment of Open MPI, of PMI (MPICH, srun) or of an srun step; one rank when none of
// them is there. The variables of an sbatch or salloc shell alone do not count: a program started
// there without srun is one rank. InvalidArgument when a variable holds no sensible number.
Result<Launch> DetectLaunch();

}  // namespace shardmill
