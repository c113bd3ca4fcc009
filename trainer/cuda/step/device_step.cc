#include "trainer/cuda/step/device_step.h"

#include <cstring>
#include <utility>

#include "trainer/cuda/step/input_slots.h"

namespace shardmill {
namespace {

// NCCL is at its best with messages of some MiB.
constexpr int64_t kBucketBytes = 8 << 20;
// Moves of batches whose copy may be under way, and of the next one.
constexpr int kMoveRing = kInputSlots + 2;
constexpr int64_t kPerDouble = sizeof(double);

int64_t BytesOf(const ImageBatch& images) {
  return images.shape.Elements() * ImageTypeBytes(images.type);
}

int64_t BytesOf(const LabelBatch& labels) { return labels.n * LabelRowBytes(labels); }

}  // namespace

StreamHandle DeviceStep::ComputeStream(Graph* graph, DeviceOpTable* ops) {
  return ops->HandleOf(GraphStep(graph).stream());
}

Result<std::unique_ptr<DeviceStep>> DeviceStep::Create(Graph* graph, DeviceOpTable* ops,
                                                       DeviceCommunicator* ranks,
                                                       const DeviceStepOptions& options) {
  std::unique_ptr<DeviceStep> step(new DeviceStep(graph, ops, ranks, options));
  RETURN_IF_ERROR(step->Start());
  return step;
}

DeviceStep::DeviceStep(Graph* graph, DeviceOpTable* ops, DeviceCommunicator* ranks,
                       const DeviceStepOptions& options)
    : graph_(*graph),
      ops_(*ops),
      runtime_(*ops->runtime()),
      ranks_(ranks),
      options_(options),
      step_(graph),
      stream_(ComputeStream(graph, ops)),
      graphs_(&runtime_) {}

Status DeviceStep::Start() {
  ASSIGN_OR_RETURN(state_, DeviceState::Create(&graph_.parameters(), &ops_, options_.state));
  if (HasPasses()) RETURN_IF_ERROR(pass_sums_.Create(&ops_, &graph_.parameters()));
  const int dropout_layers = static_cast<int>(step_.DropoutKeys(0).size());
  RETURN_IF_ERROR(block_.Create(&ops_, &runtime_, kMostPending, dropout_layers));
  if (dropout_layers > 0) step_.set_dropout_keys(block_.keys());
  InputPath::Options input;
  input.slot_bytes = InputSlotBytes(options_.batch_bytes, options_.rows);
  input.slots = kInputSlots;
  ASSIGN_OR_RETURN(input_, InputPath::Create(&runtime_, input));
  const int64_t sums = options_.rows * static_cast<int64_t>(sizeof(uint64_t));
  ASSIGN_OR_RETURN(window_sums_, DeviceBuffer::Create(&ops_, sums));
  ASSIGN_OR_RETURN(
      void* const moves,
      runtime_.AllocatePinned(kMoveRing * options_.rows * static_cast<int64_t>(sizeof(InputRow))));
  pinned_moves_ = static_cast<InputRow*>(moves);
  return ranks_ == nullptr ? OkStatus() : StartRanks();
}

Status DeviceStep::StartRanks() {
  ParameterStore& store = graph_.parameters();
  std::vector<GradientRange> ranges;
  for (const ParameterInfo& info : store.parameters()) {
    ranges.push_back({info.offset, info.offset + info.elements});
  }
  GradientBucketOptions buckets;
  buckets.bucket_bytes = kBucketBytes;
  ASSIGN_OR_RETURN(buckets_, GradientBuckets::Create(ranks_, store.gradients(),
                                                     store.parameter_elements(), ranges, buckets));
  norm_sums_.emplace(&ops_, &step_.stream(), ranks_);
  step_.set_norm_sums(&*norm_sums_);
  graphs_.set_ranks(
      {[this](std::string_view message) { return ranks_->Gather(message, "graph of the step"); },
       [this] {
         ranks_->ForgetCaptured();
         buckets_->Forget();
       }});
  ranks_->set_drop_graphs([this] { return graphs_.DropGraphs().ok(); });
  return OkStatus();
}

DeviceStep::~DeviceStep() {
  // The graph may live on.
  step_.set_dropout_keys(nullptr);
  step_.set_norm_sums(nullptr);
  // Where the job has failed, this ends the sums that wait for other ranks.
  const Status job = ranks_ == nullptr ? OkStatus() : ranks_->Progress();
  // What fails here has failed before, and then the device is lost: it is asked for nothing.
  const bool is_idle = runtime_.Drain().ok();
  if (ranks_ != nullptr) {
    const bool dropped = graphs_.DropGraphs().ok();
    ranks_->set_drop_graphs([=] { return dropped; });
  }
  if (!is_idle) return;
  input_.reset();
  if (pinned_moves_ != nullptr && !runtime_.FreePinned(pinned_moves_).ok()) return;
}

Status DeviceStep::Launch(const char* name, std::vector<MemorySpan> reads,
                          std::vector<MemorySpan> writes, const std::function<Status()>& launch) {
  return runtime_.Launch(stream_, {name, std::move(reads), std::move(writes)},
                         [&](StreamHandle) { return launch(); });
}

Status DeviceStep::SumOverRanks(double* values, int64_t count, std::string_view name) {
  if (ranks_ == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const StartedCall call, ranks_->StartSum(values, count, SumType::kF64, name));
  return ranks_->Wait(call);
}

// Moves in pinned memory. Of the batches before, at most kInputSlots are still being copied.
Result<const InputRow*> DeviceStep::KeepMoves(const std::vector<InputRow>& moves) {
  if (static_cast<int64_t>(moves.size()) > options_.rows) {
    return InternalError("a batch has more rows than the step was made for");
  }
  InputRow* const pinned = pinned_moves_ + pushes_ % kMoveRing * options_.rows;
  const auto bytes = static_cast<int64_t>(moves.size() * sizeof(InputRow));
  runtime_.NoteHostAccess({"moves of the rows", {}, {{pinned, bytes}}});
  std::memcpy(static_cast<void*>(pinned), moves.data(), static_cast<size_t>(bytes));
  return pinned;
}

Status DeviceStep::Push(const DeviceBatch& batch, std::function<void()> give_back) {
  const BatchRows& rows = batch.rows;
  std::vector<InputPath::Piece> pieces(kInputPieces);
  pieces[0] = {rows.images.data, BytesOf(rows.images)};
  pieces[1] = {rows.labels.data, BytesOf(rows.labels)};
  if (rows.labels.row_weights != nullptr) {
    pieces[2] = {rows.labels.row_weights, rows.labels.n * static_cast<int64_t>(sizeof(float))};
  }
  Pushed pushed = {rows, !batch.moves.empty(), rows.images.shape.h, rows.images.shape.w};
  if (pushed.moves) {
    SHARDMILL_CHECK(static_cast<int64_t>(batch.moves.size()) == rows.images.shape.n);
    pushed.height = batch.height;
    pushed.width = batch.width;
    ASSIGN_OR_RETURN(pieces[3].pinned, KeepMoves(batch.moves));
    pieces[3].bytes = static_cast<int64_t>(batch.moves.size() * sizeof(InputRow));
  }
  RETURN_IF_ERROR(input_->Push(pieces, std::move(give_back)));
  pushed_.push_back(pushed);
  ++pushes_;
  return OkStatus();
}

Status DeviceStep::Upload(const Pushed& batch, double rate, bool stop) {
  const uint64_t step = batch.rows.images.step;
  StepBlock block;
  block.numbers = state_->NextNumbers(rate, options_.clip_norm, step + 1);
  block.stop = stop ? 1 : 0;
  return block_.Upload(stream_, enqueued_, block, step_.DropoutKeys(step));
}

Status DeviceStep::Enqueue(double rate, bool stop) {
  SHARDMILL_CHECK(!pushed_.empty() && pending() < kMostPending);
  const Pushed batch = pushed_.front();
  pushed_.pop_front();
  ASSIGN_OR_RETURN(const InputPath::DevicePieces pieces, input_->Take(stream_));
  if (ranks_ != nullptr) ranks_->set_step(static_cast<int64_t>(batch.rows.images.step) + 1);
  RETURN_IF_ERROR(Upload(batch, rate, stop));
  const std::vector<StepPass> passes =
      CutPasses(Place(batch, pieces), options_.passes, ranks_ == nullptr ? 1 : ranks_->size());
  RETURN_IF_ERROR(PlanPasses(passes));
  RETURN_IF_ERROR(Run(KeyOf(batch, pieces), passes));
  RETURN_IF_ERROR(input_->Release(stream_));
  RETURN_IF_ERROR(block_.Download(stream_, enqueued_));
  ++enqueued_;
  return OkStatus();
}

StepBatch DeviceStep::Place(const Pushed& batch, const InputPath::DevicePieces& pieces) {
  StepBatch placed;
  placed.rows = batch.rows;
  placed.rows.images.data = pieces[0];
  placed.rows.labels.data = pieces[1];
  placed.rows.labels.row_weights = static_cast<const float*>(pieces[2]);
  placed.moves = static_cast<const InputRow*>(pieces[3]);
  placed.height = batch.height;
  placed.width = batch.width;
  return placed;
}

// All memory that the step needs is there before it is captured.
Status DeviceStep::PlanPasses(const std::vector<StepPass>& passes) {
  for (const StepPass& pass : passes) {
    RETURN_IF_ERROR(BeginPass(pass));
    RETURN_IF_ERROR(GrowMovedLabels(pass));
  }
  if (step_.arena() != arena_) RETURN_IF_ERROR(graphs_.Forget());
  arena_ = step_.arena();
  return OkStatus();
}

Status DeviceStep::BeginPass(const StepPass& pass) {
  if (norm_sums_) norm_sums_->SetRows(pass.images.shape.n, pass.batch.rows.global_rows);
  return step_.Begin(pass.images);
}

// Room for the labels of the largest pass so far that is moved.
Status DeviceStep::GrowMovedLabels(const StepPass& pass) {
  if (!pass.moves_labels || moved_labels_.bytes() >= BytesOf(pass.labels)) return OkStatus();
  RETURN_IF_ERROR(step_.stream().Synchronize());
  RETURN_IF_ERROR(graphs_.Forget());
  ASSIGN_OR_RETURN(moved_labels_, DeviceBuffer::Create(&ops_, BytesOf(pass.labels)));
  return OkStatus();
}

Status DeviceStep::Run(const std::string& key, const std::vector<StepPass>& passes) {
  std::string why;
  if (options_.capture && step_.CanBeCaptured(&why)) {
    return graphs_.Run(key, stream_, [&](StreamHandle) { return EnqueueStep(passes); });
  }
  note_ = "the step runs without a CUDA graph: " + (why.empty() ? "it was not asked for" : why);
  // As graphs do: the sums of a rank that has its batch do not wait for one that loads it.
  if (ranks_ != nullptr) RETURN_IF_ERROR(ranks_->Barrier("a training step"));
  return EnqueueStep(passes);
}

// All that decides what a step launches and which memory it uses.
std::string DeviceStep::KeyOf(const Pushed& batch, const InputPath::DevicePieces& pieces) const {
  const ImageBatch& images = batch.rows.images;
  std::string key = ShapeText(images.shape);
  for (const int64_t number :
       {batch.height, batch.width, int64_t{batch.moves}, batch.rows.global_rows, images.first_row,
        static_cast<int64_t>(images.type), static_cast<int64_t>(batch.rows.labels.type)}) {
    key += " " + std::to_string(number);
  }
  for (const void* piece : pieces) {
    key += " " + std::to_string(reinterpret_cast<uintptr_t>(piece));
  }
  return key;
}

Status DeviceStep::EnqueueStep(const std::vector<StepPass>& passes) {
  for (const StepPass& pass : passes) {
    const PassPlace place = {&pass == &passes.front(), &pass == &passes.back()};
    // The only pass was begun when it was planned.
    if (HasPasses()) RETURN_IF_ERROR(BeginPass(pass));
    RETURN_IF_ERROR(EnqueueInput(pass));
    RETURN_IF_ERROR(EnqueueForward());
    RETURN_IF_ERROR(EnqueueLoss(pass));
    RETURN_IF_ERROR(EnqueueBackward(place));
  }
  RETURN_IF_ERROR(EnqueueSums());
  return EnqueueUpdate();
}

Status DeviceStep::EnqueueInput(const StepPass& pass) {
  const ImageBatch& stored = pass.batch.rows.images;
  const LabelBatch& labels = pass.batch.rows.labels;
  InputCall call;
  call.source = stored.shape;
  call.output = step_.input_shape();
  call.type = stored.type;
  call.images = stored.data;
  call.rows = pass.batch.moves;
  call.sums = static_cast<uint64_t*>(window_sums_.data());
  call.outside = options_.outside;
  call.mean = step_.image_mean();
  call.inverse_deviation = step_.inverse_deviation();
  std::vector<MemorySpan> reads = {{stored.data, BytesOf(stored)}};
  std::vector<MemorySpan> writes = {Arena()};
  if (call.rows != nullptr) {
    reads.push_back({call.rows, call.source.n * static_cast<int64_t>(sizeof(InputRow))});
    writes.push_back({window_sums_.data(), window_sums_.bytes()});
  }
  if (pass.moves_labels) {
    call.labels.type = labels.type;
    call.labels.labels = labels.data;
    call.labels.outside = options_.outside_label;
    call.labels.classes = labels.classes;
    if (labels.type == LabelType::kOneHotF32) {
      call.labels.one_hot = static_cast<float*>(moved_labels_.data());
    } else {
      call.labels.moved = moved_labels_.data();
    }
    reads.push_back({labels.data, BytesOf(labels)});
    writes.push_back({moved_labels_.data(), BytesOf(pass.labels)});
  }
  call.y = step_.input();
  return Launch("input", std::move(reads), std::move(writes),
                [&] { return ops_.PrepareInput(step_.stream(), call); });
}

Status DeviceStep::EnqueueForward() {
  for (int layer = 0; layer < step_.layers(); ++layer) {
    std::vector<MemorySpan> reads = state_->Weights();
    reads.push_back(block_.Span());
    RETURN_IF_ERROR(Launch("forward", std::move(reads), {Arena(), state_->Statistics()},
                           [&] { return step_.Forward(layer); }));
  }
  return OkStatus();
}

Status DeviceStep::EnqueueLoss(const StepPass& pass) {
  StepBlock* const block = block_.device();
  LabelBatch labels = pass.labels;
  if (pass.moves_labels) labels.data = moved_labels_.data();
  std::vector<MemorySpan> reads = {{labels.data, BytesOf(labels)}};
  if (labels.row_weights != nullptr) {
    reads.push_back({labels.row_weights, labels.n * static_cast<int64_t>(sizeof(float))});
  }
  if (HasPasses()) return EnqueueLossOfPass(labels, std::move(reads));
  RETURN_IF_ERROR(Launch("weight of the labels", reads, {Arena(), {&block->weight, kPerDouble}},
                         [&] { return step_.LossWeight(labels, &block->weight); }));
  // The weight first: the gradient is that of the mean over all ranks.
  RETURN_IF_ERROR(SumOverRanks(&block->weight, 1, "weight of the labels"));
  reads.push_back({&block->weight, kPerDouble});
  return Launch("loss", reads, {Arena(), {&block->loss, kPerDouble}},
                [&] { return step_.Loss(labels, &block->weight, &block->loss); });
}

// The gradient is that of the sum of the losses: the weight of the batch is known behind the last
// pass.
Status DeviceStep::EnqueueLossOfPass(const LabelBatch& labels, std::vector<MemorySpan> reads) {
  StepBlock* const block = block_.device();
  RETURN_IF_ERROR(Launch("weight of a pass", reads, {Arena(), {&block->pass_weight, kPerDouble}},
                         [&] { return step_.LossWeight(labels, &block->pass_weight); }));
  reads.push_back({&block->one, kPerDouble});
  RETURN_IF_ERROR(Launch("loss", reads, {Arena(), {&block->pass_loss, kPerDouble}},
                         [&] { return step_.Loss(labels, &block->one, &block->pass_loss); }));
  return pass_sums_.AddNumbers(step_.stream(), block);
}

Status DeviceStep::EnqueueBackward(const PassPlace& place) {
  const ParameterStore& store = graph_.parameters();
  for (int layer = step_.layers() - 1; layer >= 0; --layer) {
    const std::vector<int> parameters = step_.ParametersOf(layer);
    std::vector<MemorySpan> reads = state_->Weights(), writes = {Arena()};
    reads.push_back(block_.Span());
    for (const int parameter : parameters) {
      writes.push_back({store.gradient_at(parameter), store.parameters()[parameter].elements *
                                                          static_cast<int64_t>(sizeof(float))});
    }
    RETURN_IF_ERROR(Launch("backward", std::move(reads), std::move(writes),
                           [&] { return step_.Backward(layer); }));
    if (place.is_last) RETURN_IF_ERROR(EnqueueGradientsDone(parameters));
  }
  return place.is_last ? OkStatus() : pass_sums_.Keep(step_.stream(), place.is_first);
}

// Of the last pass: with what the passes before it left, they are those of the step.
Status DeviceStep::EnqueueGradientsDone(const std::vector<int>& parameters) {
  for (const int parameter : parameters) {
    const ParameterInfo& info = graph_.parameters().parameters()[parameter];
    if (HasPasses()) {
      RETURN_IF_ERROR(pass_sums_.AddKept(step_.stream(), info.offset, info.offset + info.elements));
    }
    if (buckets_ != nullptr) RETURN_IF_ERROR(buckets_->MarkFinal(parameter));
  }
  return OkStatus();
}

// Gradients and loss of all ranks.
Status DeviceStep::EnqueueSums() {
  StepBlock* const block = block_.device();
  if (buckets_ != nullptr) RETURN_IF_ERROR(buckets_->Finish());
  if (!HasPasses()) return SumOverRanks(&block->loss, 2, "loss");
  RETURN_IF_ERROR(SumOverRanks(&block->weight, 3, "loss"));
  return pass_sums_.Divide(step_.stream(), block);
}

Status DeviceStep::EnqueueUpdate() {
  StepBlock* const block = block_.device();
  std::vector<MemorySpan> norm = state_->Norm();
  norm.push_back(block_.Span());
  RETURN_IF_ERROR(Launch("norm", {state_->Gradients(), {&block->loss, kPerDouble}}, norm, [&] {
    return state_->EnqueueNorm(step_.stream(), &block->numbers, &block->loss, &block->norm);
  }));
  RETURN_IF_ERROR(Launch("update", {state_->Gradients(), block_.Span(), state_->Ranges()},
                         state_->Weights(),
                         [&] { return state_->EnqueueUpdate(step_.stream(), &block->numbers); }));
  if (!state_->HasAverage()) return OkStatus();
  std::vector<MemorySpan> reads = state_->Weights();
  reads.push_back(block_.Span());
  reads.push_back(state_->Statistics());
  return Launch("average", std::move(reads), state_->Average(),
                [&] { return state_->EnqueueAverage(step_.stream(), &block->numbers); });
}

Result<DeviceOutcome> DeviceStep::Await() {
  SHARDMILL_CHECK(pending() > 0);
  const EventHandle done = block_.Done(awaited_);
  RETURN_IF_ERROR(ranks_ != nullptr ? ranks_->AwaitDevice(done, "a training step")
                                    : runtime_.Synchronize(done));
  const StepBlock block = block_.Read(awaited_);
  ++awaited_;
  // The copy of this batch was done long ago.
  RETURN_IF_ERROR(input_->Poll());
  DeviceOutcome outcome;
  outcome.loss = {block.loss, block.weight};
  outcome.gradient_norm = block.norm;
  outcome.stop = block.stop > 0;
  return outcome;
}

}  // namespace shardmill
