// Model descriptions as text: see proto/model.proto.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"

namespace shardmill {

namespace proto {
class Model;
}  // namespace proto

// Text format, or JSON when the text begins with a brace. InvalidArgument with `source`, and line
// and column where they are known.
Result<proto::Model> ParseModel(const std::string& text, const std::string& source);
Result<proto::Model> ReadModelFile(const std::string& path);
// The text format; ParseModel gives the same model back.
std::string ModelText(const proto::Model& model);

// The description with the numbers of a data set. InvalidArgument names the layer. Whether the
// layers fit together is found by ResolveModel (trainer/graph/resolved_model.h).
Result<ModelSpec> SpecOfModel(const proto::Model& model, int64_t input_channels, int64_t classes);
// The last layer with channels of its own is said to have as many as there are classes.
proto::Model ModelOfSpec(const ModelSpec& spec);

}  // namespace shardmill
