#pragma once

namespace shardmill {

// Training keeps what backward needs and normalises by the batch; evaluation normalises by the
// running statistics.
enum class Phase { kTraining, kEvaluation };

}  // namespace shardmill
