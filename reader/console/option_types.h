// Adds options of our own types to a command: sizes, byte counts.
//
// A value that does not parse is a usage error that names the option. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reader/console/units.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shardmill {

// HEIGHTxWIDTH in pixels. `value` must outlive the app.
CLI::Option* AddImageSize(CLI::App* app, const std::string& flag, std::optional<ImageSize>* value,
                          const std::string& description);
CLI::Option* AddImageSize(CLI::App* app, const std::string& flag, ImageSize* value,
                          const std::string& description);

// A number of bytes, with or without a unit.
CLI::Option* AddBytes(CLI::App* app, const std::string& flag, uint64_t* value,
                      const std::string& description);

// A whole number from 0 to `largest`.
CLI::Option* AddUnsigned(CLI::App* app, const std::string& flag, uint64_t* value, uint64_t largest,
                         const std::string& description);

}  // namespace shardmill
