// Base64, as annotation files hold masks in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardmill {

// nullopt when the text is not base64; line ends in it are skipped.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace shardmill
