#include "reader/base/error_prefix.h"

namespace shardmill {
namespace {

// Never destroyed: threads may report errors until the process has ended.
std::string& Command() {
  static auto* const command = new std::string;
  return *command;
}

}  // namespace

void SetErrorPrefix(const std::string& command) { Command() = command; }

std::string ErrorPrefix() { return Command().empty() ? "error: " : Command() + ": error: "; }

}  // namespace shardmill
