// The help of our programs: option and type on the left, the wrapped description with its default
// on the right.
#pragma once

#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace shardmill {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace shardmill
