#include "reader/console/option_types.h"

#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace shardmill {
namespace {

// An option whose text goes through `parse`, a function from string to Result<T>; `store` takes
// the value.
template <typename Parse, typename Store>
CLI::Option* AddParsed(CLI::App* app, const std::string& flag, const std::string& description,
                       Parse parse, Store store) {
  auto set = [flag, parse, store](const std::string& text) {
    auto value = parse(text);
    if (!value.ok()) throw CLI::ValidationError(flag, value.status().message());
    store(*value);
  };
  return app->add_option_function<std::string>(flag, set, description);
}

}  // namespace

CLI::Option* AddImageSize(CLI::App* app, const std::string& flag, std::optional<ImageSize>* value,
                          const std::string& description) {
  return AddParsed(app, flag, description, ParseImageSize,
                   [value](ImageSize size) { *value = size; })
      ->type_name("HEIGHTxWIDTH");
}

CLI::Option* AddImageSize(CLI::App* app, const std::string& flag, ImageSize* value,
                          const std::string& description) {
  return AddParsed(app, flag, description, ParseImageSize,
                   [value](ImageSize size) { *value = size; })
      ->type_name("HEIGHTxWIDTH")
      ->default_str(FormatImageSize(*value));
}

CLI::Option* AddBytes(CLI::App* app, const std::string& flag, uint64_t* value,
                      const std::string& description) {
  return AddParsed(app, flag, description, ParseBytes, [value](uint64_t bytes) { *value = bytes; })
      ->type_name("BYTES")
      ->default_str(FormatBytesFlag(*value));
}

CLI::Option* AddUnsigned(CLI::App* app, const std::string& flag, uint64_t* value, uint64_t largest,
                         const std::string& description) {
  auto parse = [largest](const std::string& text) { return ParseUnsigned(text, largest); };
  return AddParsed(app, flag, description, parse, [value](uint64_t number) { *value = number; })
      ->type_name("N")
      ->default_str(std::to_string(*value));
}

}  // namespace shardmill
