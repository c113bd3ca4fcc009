// Adds an option that takes one of several words to a command. Single-threaded.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

// `value` holds the default, empty for none, and must outlive the app.
void AddChoice(CLI::App* app, const std::string& flag, std::string* value,
               const std::vector<std::string>& choices, const std::string& description);

}  // namespace shardmill
