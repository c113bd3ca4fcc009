#include "tools/choice_option.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace shardmill {

void AddChoice(CLI::App* app, const std::string& flag, std::string* value,
               const std::vector<std::string>& choices, const std::string& description) {
  std::string type;
  for (const std::string& choice : choices) type += (type.empty() ? "" : "|") + choice;
  CLI::Option* option = app->add_option(flag, *value, description);
  option->type_name(type)->check(CLI::IsMember(choices).description(""));
  if (!value->empty()) option->default_str(*value);
}

}  // namespace shardmill
