// The op table: everything the layers compute, behind one interface with several backends.
//
// `reference` (plain C++, double arithmetic, one thread) is the oracle of the tests, `onednn` the
// backend of CPU training, `cuda` that of GPUs; each has a …_backend.h that creates it. Pointers
// are addresses in the memory of the backend; tensors are dense NHWC of the backend's element type
// unless a comment says otherwise; sizes come from the shapes. Operations never allocate and never
// read back to the host: scratch memory is passed in as `workspace` (any content,
// kMemoryAlignment-aligned, as large as the matching …WorkspaceBytes says, and free again when the
// next operation of the stream starts).
//
// Operations are enqueued on a Stream and run in order; host backends have run them when the call
// returns. They fail only on bugs and on a broken device. One table may be used by several
// threads, each with its own stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "reader/base/status.h"
#include "trainer/graph/tensor.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

constexpr int64_t kMemoryAlignment = 64;

// An in-order queue of operations of one backend.
class Stream {
 public:
  virtual ~Stream() = default;
  // Returns when everything enqueued so far is done.
  virtual Status Synchronize() = 0;
};

// A convolution (or transposed convolution) prepared for one shape. Immovable; one object may not
// run on two streams at once.
class ConvolutionOp {
 public:
  virtual ~ConvolutionOp() = default;
  virtual int64_t WorkspaceBytes() const = 0;  // enough for each of the three
  // y = activation(convolution + bias). `bias` is null when the shape has none. There is no
  // BackwardData where channels are padding.
  virtual Status Forward(Stream& stream, const void* x, const void* weights, const void* bias,
                         void* y, void* workspace) = 0;
  virtual Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                              void* workspace) = 0;
  // Overwrites both gradients; `dbias` is null when the shape has no bias.
  virtual Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights,
                                 void* dbias, void* workspace) = 0;
};

// One batch norm: its input and its per-channel vectors, each of shape.c elements.
struct BatchNormCall {
  Shape shape;
  Activation activation = Activation::kNone;
  double epsilon = 1e-5;
  const void* x = nullptr;
  const void* mean = nullptr;
  const void* variance = nullptr;  // biased: divided by the number of pixels
  const void* scale = nullptr;
  const void* shift = nullptr;
  void* workspace = nullptr;
};

// A batch norm by fixed statistics behind a convolution, to be folded into its numbers. All vectors
// have `channels` elements, of f32 (f64 of such tables) like the weights, whatever the element
// type.
struct BatchNormFold {
  int64_t channels = 0;  // that the convolution makes
  int64_t weights_per_channel = 0;
  double epsilon = 1e-5;
  const void* weights = nullptr;
  const void* bias = nullptr;  // null: the convolution has none
  const void* mean = nullptr;
  const void* variance = nullptr;
  const void* scale = nullptr;
  const void* shift = nullptr;
};

// The sums of BatchNormBackwardSums and how many pixels they are of: more than the pixels of the
// shape when ranks share their statistics.
struct BatchNormSums {
  const void* dscale = nullptr;
  const void* dshift = nullptr;
  int64_t pixels = 0;
};

// Labels of one batch and what each of them weighs: the weight of its row (`row_weights`, n of
// f32, null: 1) times the sum over k of class_weights[k] * target[k] (f32, null: 1).
struct LossCall {
  LossShape shape;
  const void* labels = nullptr;
  const float* class_weights = nullptr;
  const float* row_weights = nullptr;
  // What the terms are multiplied by; not the weights.
  double cross_entropy = 1;
  double dice = 0;
  // The cross-entropy aims at (1 - smoothing) * target[k] + smoothing * (sum of the targets) /
  // classes, each class with its own weight. The weight of the pixel stays that of its target.
  double label_smoothing = 0;
  // Unless null: pixels whose probability (see TargetProbabilities) is *probability_limit or more
  // count as little as ignored ones.
  const float* probabilities = nullptr;
  const double* probability_limit = nullptr;
  void* workspace = nullptr;
};

// Into how many equal parts CountProbabilities cuts [0, 1].
constexpr int64_t kProbabilityBins = 1024;

// One input of a concatenation: `x` is read in forward, `dx` written in backward (null: nobody
// needs that gradient).
struct ConcatPart {
  Shape shape;
  const void* x = nullptr;
  void* dx = nullptr;
  GradientMode mode = GradientMode::kOverwrite;
};

// Which elements dropout zeroes is a function of `key` and of the element's place in the global
// batch, of which the tensor holds the rows from `first_row` on.
struct DropoutCall {
  Shape shape;
  uint64_t key = 0;
  int64_t first_row = 0;
  double drop = 0;              // probability, in [0, 1)
  bool whole_channels = false;  // drops all pixels of a channel of an image together
  // Devices only: memory of the table that holds the key, in place of `key`, when it runs.
  const uint64_t* key_at = nullptr;
};

class OpTable {
 public:
  virtual ~OpTable() = default;
  virtual std::string_view name() const = 0;
  virtual ElementType element_type() const = 0;
  virtual bool host_memory() const = 0;  // pointers may be used by the host directly
  // The most threads that an operation may use when the calling thread starts it now. What is
  // prepared, and the workspaces that are asked for, are for so many threads or fewer.
  virtual int64_t threads() const { return 1; }

  // Memory. Allocate returns zeroed, kMemoryAlignment-aligned memory.
  virtual Result<void*> Allocate(int64_t bytes) = 0;
  // The same, but the host may use it too, while no operation does that was enqueued and not yet
  // waited for. It may be slower where both use it in turn.
  virtual Result<void*> AllocateShared(int64_t bytes) { return Allocate(bytes); }
  virtual void Free(void* memory) = 0;  // of either kind
  virtual Result<std::unique_ptr<Stream>> CreateStream() = 0;
  virtual Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) = 0;
  // The host may read when the stream was synchronized.
  virtual Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) = 0;
  virtual Status SetZero(Stream& stream, int64_t bytes, void* memory) = 0;

  // y = (x - mean) * inverse_deviation per channel, from u8, u16 or f32 images. The two vectors
  // are f32 for every element type.
  virtual Status NormalizeImages(Stream& stream, const Shape& shape, ImageType type,
                                 const void* images, const float* mean,
                                 const float* inverse_deviation, void* y) = 0;
  // Convolutions of images are faster where these have a multiple of so many channels: the graph
  // then pads them by NormalizePaddedImages, and says so in ConvolutionShape::zero_channels.
  virtual int64_t image_channel_multiple() const { return 1; }
  // The same as NormalizeImages, into y of `channels` channels, of which the last ones become 0.
  virtual Status NormalizePaddedImages(Stream& stream, const Shape& shape, ImageType type,
                                       const void* images, const float* mean,
                                       const float* inverse_deviation, int64_t channels, void* y);

  virtual Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(
      const ConvolutionShape& shape) = 0;

  // Batch norm, cut where ranks exchange sums. Statistics: mean and biased variance per channel.
  virtual int64_t BatchNormWorkspaceBytes(const Shape& shape) const = 0;
  virtual Status BatchNormStatistics(Stream& stream, const Shape& shape, const void* x, void* mean,
                                     void* variance, void* workspace) = 0;
  // running = running + momentum * (batch - running), the variance made unbiased first.
  virtual Status BatchNormUpdateRunning(Stream& stream, int64_t channels, int64_t pixels,
                                        double momentum, const void* mean, const void* variance,
                                        void* running_mean, void* running_variance) = 0;
  // y = activation((x - mean) / sqrt(variance + epsilon) * scale + shift); `y` may be `x`.
  virtual Status BatchNormForward(Stream& stream, const BatchNormCall& norm, void* y) = 0;
  // The weights, of the element type, and the bias with which the convolution alone makes what it
  // and the batch norm make together.
  virtual Status FoldBatchNorm(Stream& stream, const BatchNormFold& fold, void* weights,
                               void* bias) = 0;
  // dshift = sum of g, dscale = sum of g * normalised x, where g is dy behind the activation
  // (zero where the activation is constant; `y` may be null for kNone).
  virtual Status BatchNormBackwardSums(Stream& stream, const BatchNormCall& norm, const void* y,
                                       const void* dy, void* dscale, void* dshift) = 0;
  // The gradient of x. `dx` may be `dy`.
  virtual Status BatchNormBackwardData(Stream& stream, const BatchNormCall& norm,
                                       const BatchNormSums& sums, const void* y, const void* dy,
                                       void* dx) = 0;

  // `y` may be `x`, `dx` may be `dy`. For kNone these are copies.
  virtual Status ActivationForward(Stream& stream, Activation activation, int64_t elements,
                                   const void* x, void* y) = 0;
  virtual Status ActivationBackward(Stream& stream, Activation activation, int64_t elements,
                                    const void* y, const void* dy, void* dx) = 0;

  // y = x where x is above 0, slopes[channel] * x elsewhere. `dx` may be `dy` or null.
  virtual int64_t PreluWorkspaceBytes(const Shape& shape) const = 0;
  virtual Status PreluForward(Stream& stream, const Shape& shape, const void* x, const void* slopes,
                              void* y) = 0;
  virtual Status PreluBackward(Stream& stream, const Shape& shape, const void* x,
                               const void* slopes, const void* dy, void* dx, void* dslopes,
                               void* workspace) = 0;

  // y = x / (1 - drop), or 0 for the dropped elements. Its own backward. `y` may be `x`.
  virtual Status Dropout(Stream& stream, const DropoutCall& dropout, const void* x, void* y) = 0;

  // indices: per output element the position of its maximum in the window (row-major, the first
  // of equals).
  virtual Status MaxPoolForward(Stream& stream, const PoolShape& shape, const void* x, void* y,
                                uint8_t* indices) = 0;
  virtual Status MaxPoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                                 const uint8_t* indices, GradientMode mode, void* dx) = 0;

  // The adjoint of MaxPoolBackward: y = the elements of x, a tensor of the pool's input shape, that
  // the indices name.
  virtual Status MaxPoolGather(Stream& stream, const PoolShape& shape, const void* x,
                               const uint8_t* indices, GradientMode mode, void* y) = 0;

  // The mean of the elements of a window that lie inside of the input.
  virtual Status AveragePoolForward(Stream& stream, const PoolShape& shape, const void* x,
                                    void* y) = 0;
  virtual Status AveragePoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                                     GradientMode mode, void* dx) = 0;

  virtual Status UpsampleForward(Stream& stream, const UpsampleShape& shape, const void* x,
                                 void* y) = 0;
  virtual Status UpsampleBackward(Stream& stream, const UpsampleShape& shape, const void* dy,
                                  GradientMode mode, void* dx) = 0;

  // Sequences are n × 1 × frames × c; of row n only the first lengths[n] frames exist (null: all).
  // y, n × 1 × 1 × 2c: per channel the mean over the frames, then for all channels the root of
  // (biased variance + kStatisticsEpsilon).
  static constexpr double kStatisticsEpsilon = 1e-8;
  virtual Status StatisticsPoolForward(Stream& stream, const Shape& shape, const int32_t* lengths,
                                       const void* x, void* y) = 0;
  virtual Status StatisticsPoolBackward(Stream& stream, const Shape& shape, const int32_t* lengths,
                                        const void* x, const void* y, const void* dy,
                                        GradientMode mode, void* dx) = 0;
  // x = 0 in the frames that do not exist.
  virtual Status ZeroPadding(Stream& stream, const Shape& shape, const int32_t* lengths,
                             void* x) = 0;

  virtual Status GlobalAveragePoolForward(Stream& stream, const Shape& shape, const void* x,
                                          void* y) = 0;
  virtual Status GlobalAveragePoolBackward(Stream& stream, const Shape& shape, const void* dy,
                                           GradientMode mode, void* dx) = 0;

  // Concatenation of `count` parts along the channels. Where a part differs from the whole in
  // height or width they share the top left corner; the part is cropped, or padded with zeros, at
  // the bottom and the right.
  virtual Status ConcatForward(Stream& stream, const Shape& whole, const ConcatPart* parts,
                               int count, void* y) = 0;
  virtual Status ConcatBackward(Stream& stream, const Shape& whole, const ConcatPart* parts,
                                int count, const void* dy) = 0;

  // y += x
  virtual Status Add(Stream& stream, int64_t elements, const void* x, void* y) = 0;

  virtual int64_t LossWorkspaceBytes(const LossShape& shape) const = 0;
  // *weight_sum = sum of the weights of all pixels.
  virtual Status LossWeight(Stream& stream, const LossCall& loss, double* weight_sum) = 0;
  // Per pixel the probability that the logits give to its target (of soft labels the mean over the
  // shares); -1 where the pixel weighs nothing. Does not read `loss.probabilities`.
  virtual Status TargetProbabilities(Stream& stream, const LossCall& loss, const void* logits,
                                     float* probabilities) = 0;
  // counts[i] = number of probabilities in [i, i + 1) / kProbabilityBins, 1 in the last bin.
  virtual Status CountProbabilities(Stream& stream, int64_t pixels, const float* probabilities,
                                    double* counts) = 0;

  // *loss_sum = weighted sum of the cross-entropies, times loss.cross_entropy. Unless `dlogits` is
  // null, it receives the gradient of loss_sum / *total_weight, which is 0 where *total_weight
  // is 0.
  virtual Status SoftmaxCrossEntropy(Stream& stream, const LossCall& loss, const void* logits,
                                     const double* total_weight, double* loss_sum,
                                     void* dlogits) = 0;

  // Adds the Dice losses of the images to *loss_sum and their gradient to `dlogits`, both times
  // loss.dice. Per image it is W * (1 - mean over the classes of (2 I + 1) / (P + T + 1)), with the
  // sums over the pixels that count of probability times target (I), of probabilities (P), of
  // targets (T) and of weights (W): so dividing by *total_weight gives a weighted mean over images.
  virtual Status AddDiceLoss(Stream& stream, const LossCall& loss, const void* logits,
                             const double* total_weight, double* loss_sum, void* dlogits) = 0;

  // The channel with the largest value per pixel (the first of equals), as u8 or u16.
  virtual Status Argmax(Stream& stream, const Shape& shape, const void* logits, LabelType type,
                        void* classes) = 0;
};

// Owns memory of an op table. Move-only. The table must outlive it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { Reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  static Result<DeviceBuffer> Create(OpTable* ops, int64_t bytes);  // zeroed
  static Result<DeviceBuffer> CreateShared(OpTable* ops, int64_t bytes);
  void Reset();
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  OpTable* ops_ = nullptr;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace shardmill
