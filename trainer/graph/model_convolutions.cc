#include "trainer/graph/model_convolutions.h"

#include <memory>

#include "trainer/graph/graph_plan.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// Notes what it is asked to prepare, in order. The layers that it serves are never run.
class ConvolutionRecorder : public ReferenceOps {
 public:
  explicit ConvolutionRecorder(int64_t image_channel_multiple)
      : ReferenceOps(ElementType::kF32), multiple_(image_channel_multiple) {}

  int64_t image_channel_multiple() const override { return multiple_; }

  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(
      const ConvolutionShape& shape) override {
    shapes_.push_back(shape);
    return ReferenceOps::PrepareConvolution(shape);
  }
  const std::vector<ConvolutionShape>& shapes() const { return shapes_; }

 private:
  int64_t multiple_;
  std::vector<ConvolutionShape> shapes_;
};

bool IsConvolution(const ResolvedLayer& layer) {
  return layer.spec.kind == LayerKind::kConvolution ||
         layer.spec.kind == LayerKind::kTransposedConvolution;
}

}  // namespace

Result<std::vector<ModelConvolution>> ConvolutionsOf(const ModelSpec& spec, const Shape& images,
                                                     Phase phase, int64_t image_channel_multiple) {
  ParameterStore store;
  ASSIGN_OR_RETURN(const ResolvedModel model, ResolveModel(spec, &store));
  ConvolutionRecorder recorder(image_channel_multiple);
  LayerContext context;
  context.ops = &recorder;
  context.parameters = &store;
  RETURN_IF_ERROR(GraphPlan::Create(&model, &context, images, phase).status());

  std::vector<ModelConvolution> convolutions;
  for (const ResolvedLayer& layer : model.layers) {
    if (!IsConvolution(layer)) continue;
    SHARDMILL_CHECK(convolutions.size() < recorder.shapes().size());
    convolutions.push_back({layer.spec.name, recorder.shapes()[convolutions.size()],
                            model.ValueNeedsGradient(layer.inputs.front())});
  }
  SHARDMILL_CHECK(convolutions.size() == recorder.shapes().size());
  return convolutions;
}

}  // namespace shardmill
