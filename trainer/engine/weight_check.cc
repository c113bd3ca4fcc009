#include "trainer/engine/weight_check.h"

namespace shardmill {
namespace {

Status BroadcastFloats(Communicator* communicator, float* values, int64_t count,
                       std::string_view name) {
  return communicator->Broadcast(values, count * static_cast<int64_t>(sizeof(float)), 0, name);
}

}  // namespace

Status BroadcastValues(Communicator* communicator, std::vector<float>* values,
                       std::string_view name) {
  return BroadcastFloats(communicator, values->data(), static_cast<int64_t>(values->size()), name);
}

Status BroadcastState(Communicator* communicator, Graph* graph, Optimizer* optimizer) {
  ParameterStore& store = graph->parameters();
  RETURN_IF_ERROR(
      BroadcastFloats(communicator, store.values(), store.parameter_elements(), "parameters"));
  RETURN_IF_ERROR(BroadcastFloats(communicator, store.running_statistics(),
                                  store.statistic_elements(), "statistics"));
  for (std::vector<float>& moment : optimizer->moments()) {
    RETURN_IF_ERROR(BroadcastValues(communicator, &moment, "moments"));
  }
  uint64_t steps = optimizer->steps_taken();
  RETURN_IF_ERROR(communicator->Broadcast(&steps, sizeof steps, 0, "steps of the optimizer"));
  optimizer->set_steps_taken(steps);
  return OkStatus();
}

Status CompareHashes(Communicator* communicator, const std::string& hash, uint64_t step) {
  if (communicator->size() == 1) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   communicator->Gather(hash, "hash of the weights"));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    return communicator->AbortTogether(InternalError(
        "after step " + std::to_string(step) + " the weights of rank " + std::to_string(rank) +
        " (hash " + all[rank] + ") are not those of rank 0 (" + all[0] +
        "): the ranks run on unlike processors or programs, or a memory is faulty; go on from "
        "the last checkpoint with --resume on alike machines"));
  }
  return OkStatus();
}

}  // namespace shardmill
