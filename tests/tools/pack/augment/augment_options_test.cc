#include "tools/pack/augment/augment_options.h"

#include <gtest/gtest.h>

#include <string>

namespace shardmill {
namespace {

TEST(AugmentOptions, NamesAndStrengthsAreParsed) {
  Result<AugmentOptions> options = ParseAugments("rotate,flip,scale=1.5,noise=0.25");
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->strength[kAugmentRotate], 10000u);
  EXPECT_EQ(options->strength[kAugmentScale], 1500u);
  EXPECT_EQ(options->strength[kAugmentNoise], 250u);
  EXPECT_FALSE(options->Has(kAugmentBlur));
  EXPECT_EQ(FormatAugments(*options), "flip,scale=1.5,rotate=10,noise=0.25");
}

TEST(AugmentOptions, FormattedOnesParseToTheSame) {
  for (const std::string& text :
       {std::string(UsualAugments()), std::string("blur=3,cutout=1,flip-vertical,hue=0.001")}) {
    const std::string formatted = FormatAugments(*ParseAugments(text));
    EXPECT_EQ(FormatAugments(*ParseAugments(formatted)), formatted);
  }
}

TEST(AugmentOptions, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no ''"},
      {"flip,", "there is no ''"},
      {"shear", "there is no 'shear'; there are flip"},
      {"flip=1", "flip takes no strength"},
      {"scale=3", "give 1.001 to 2"},
      {"scale=1", "give 1.001 to 2"},
      {"rotate=-3", "is no number"},
      {"rotate=1.0001", "is no number"},
      {"rotate=", "is no number"},
      {"rotate=1.2.3", "is no number"},
      {"rotate=99999999999", "is no number"},
      {"hue,hue", "hue stands twice"}};
  for (const auto& [text, message] : cases) {
    const Status status = ParseAugments(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find(message), std::string::npos)
        << text << ": " << status.message();
  }
}

TEST(AugmentOptions, ThousandthsKeepTheirDigits) {
  for (const char* text : {"0", "1", "0.001", "12.5", "180"}) {
    EXPECT_EQ(FormatThousandths(*ParseThousandths(text)), text);
  }
  EXPECT_EQ(*ParseThousandths("0.75"), 750u);
}

}  // namespace
}  // namespace shardmill
