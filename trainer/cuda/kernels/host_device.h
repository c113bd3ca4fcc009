// Marks a function that both the host and the device may call.
//
// Kernels are functors over an index: one launcher runs a functor on a stream, another runs the
// same functor in a loop on the host, so that tests without a GPU run the very code of the GPU.
// For that a functor writes nothing that another index reads or writes (but for exact sums of
// whole numbers, see atomic_add.h): the results then depend neither on the order of the indices
// nor on the grid. Sums over many elements are cut into slices that depend on shapes alone.
#pragma once

#ifdef __CUDACC__
#define SHARDMILL_HD __host__ __device__ __forceinline__
#else
#define SHARDMILL_HD inline
#endif
