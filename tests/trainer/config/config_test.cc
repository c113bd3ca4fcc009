#include "trainer/config/config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/train_config.pb.h"
#include "trainer/config/unused_options.h"

namespace shardmill {
namespace {

Result<proto::TrainConfig> GivenBy(std::vector<std::string> words) {
  CLI::App app("test");
  ConfigFlags flags;
  flags.AddTo(&app);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return flags.Given();
}

std::string WriteConfig(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/config_" + name + ".json";
  std::ofstream(path) << text;
  return path;
}

void ExpectInvalid(const Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Config, EveryFieldOfTheMessageIsAFlagAndHasHelp) {
  CLI::App app("test");
  ConfigFlags flags;
  flags.AddTo(&app);
  const auto* descriptor = proto::TrainConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    std::string name = descriptor->field(i)->name();
    if (name == "dataset") continue;
    for (char& c : name) c = c == '_' ? '-' : c;
    const CLI::Option* option = app.get_option_no_throw("--" + name);
    ASSERT_NE(option, nullptr) << name;
    EXPECT_FALSE(option->get_description().empty()) << name;
  }
}

TEST(Config, BatchIsAutoByFlagOrFileAndTheFlagWins) {
  const std::string file = WriteConfig("auto", "{\"epochs\": 3, \"batch\" :\n \"auto\"}");
  const std::string plain = WriteConfig("plain", R"({"batch": 4})");
  const auto batch = [](std::vector<std::string> words) {
    CLI::App app("test");
    ConfigFlags flags;
    flags.AddTo(&app);
    std::reverse(words.begin(), words.end());
    app.parse(words);
    const auto given = flags.Given();
    EXPECT_TRUE(given.ok()) << given.status().ToString();
    EXPECT_NE(given->has_batch(), flags.BatchIsAuto());
    return flags.BatchIsAuto() ? "auto" : std::to_string(given->batch());
  };
  EXPECT_EQ(batch({"--batch", "auto"}), "auto");
  EXPECT_EQ(batch({"--config", file}), "auto");
  EXPECT_EQ(batch({"--config", file, "--batch", "8"}), "8");
  EXPECT_EQ(batch({"--config", plain}), "4");
  EXPECT_EQ(batch({"--config", plain, "--batch", "auto"}), "auto");
  ExpectInvalid(GivenBy({"--config", WriteConfig("width", R"({"width": "auto"})")}).status(),
                "a whole number");
}

TEST(Config, OnlyWhatWasGivenIsSet) {
  const auto given = GivenBy({"shards", "--width", "16", "--lr=0.25", "--nesterov"});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  EXPECT_EQ(given->dataset(), "shards");
  EXPECT_EQ(given->width(), 16);
  EXPECT_EQ(given->lr(), 0.25);
  EXPECT_TRUE(given->nesterov());
  EXPECT_FALSE(given->has_batch());
  EXPECT_FALSE(given->has_seed());
}

TEST(Config, LastOfRepeatedFlagsWins) {
  const auto given = GivenBy({"shards", "--width", "16", "--width", "4"});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  EXPECT_EQ(given->width(), 4);
  EXPECT_TRUE(GivenBy({"d", "--no-deterministic", "--deterministic"})->deterministic());
  EXPECT_FALSE(GivenBy({"d", "--deterministic", "--no-deterministic"})->deterministic());
  EXPECT_TRUE(GivenBy({"d", "--nesterov", "--nesterov"})->nesterov());
}

TEST(Config, OptionsWithoutEffectAreNamed) {
  TaskKind task = TaskKind::kSegmentation;
  const auto unused = [&](const std::vector<std::string>& words) {
    const auto given = GivenBy(words);
    EXPECT_TRUE(given.ok());
    return UnusedOptions(*given, CompleteConfig({}, *given), task);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(unused({"d", "--nesterov", "--optimizer", "adam"}),
            Texts{"--nesterov has no effect: it is for --optimizer sgd"});
  EXPECT_EQ(unused({"d", "--nesterov", "--optimizer", "sgd"}), Texts{});
  EXPECT_EQ(unused({"d", "--beta1", "0.8", "--poly-power", "2"}), Texts{});
  EXPECT_EQ(unused({"d", "--step-epochs", "3", "--micro-shards", "3", "--ohem-share", "0.9"}),
            (Texts{"--step-epochs has no effect: it is for --schedule step",
                   "--ohem-share has no effect: it is for --ohem above 0",
                   "--micro-shards has no effect: it is for --deterministic"}));
  const std::vector<std::string> smoothed = {"d", "--label-smoothing", "0.1", "--dice",
                                             "1", "--cross-entropy"};
  const auto with = [](std::vector<std::string> words, const char* last) {
    words.push_back(last);
    return words;
  };
  EXPECT_EQ(unused(with(smoothed, "0")),
            Texts{"--label-smoothing has no effect: it is for --cross-entropy above 0"});
  EXPECT_EQ(unused(with(smoothed, "0.5")), Texts{});
  // As a file has all of them.
  EXPECT_EQ(unused({"d", "--momentum", "0.9", "--eval-every", "0"}), Texts{});
  const std::vector<std::string> pictures = {"d", "--log-pictures", "7"};
  EXPECT_EQ(unused(pictures), Texts{});
  task = TaskKind::kClassification;
  EXPECT_EQ(unused(pictures), Texts{"--log-pictures has no effect: it is for class maps"});
}

TEST(Config, FlagBeatsFileBeatsCheckpointBeatsDefault) {
  const std::string path =
      WriteConfig("order", R"({"width": 4, "batch": 2, "optimizer": "sgd", "nesterov": true})");
  const auto given = GivenBy({"shards", "--config", path, "--width", "32", "--no-nesterov"});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  proto::TrainConfig checkpoint;
  checkpoint.set_batch(64);
  checkpoint.set_epochs(77);
  const proto::TrainConfig config = CompleteConfig(checkpoint, *given);
  EXPECT_EQ(config.width(), 32);
  EXPECT_FALSE(config.nesterov());
  EXPECT_EQ(config.batch(), 2);
  EXPECT_EQ(config.optimizer(), "sgd");
  EXPECT_EQ(config.epochs(), 77);
  EXPECT_EQ(config.schedule(), "poly");
  EXPECT_TRUE(config.has_schedule());
}

TEST(Config, JsonRoundTripKeepsEveryValue) {
  proto::TrainConfig config = CompleteConfig({}, {});
  config.set_dataset("a \"quoted\" folder");
  config.set_lr(0.1 + 0.2);
  config.set_seed(~uint64_t{0});
  const auto parsed = ParseConfigJson(ConfigToJson(config), "test");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->SerializeAsString(), config.SerializeAsString());
}

TEST(Config, FileMayBeginWithAByteOrderMark) {
  const auto given =
      GivenBy({"d", "--config", WriteConfig("marked", "\xEF\xBB\xBF{\"width\": 4}")});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  EXPECT_EQ(given->width(), 4);
}

TEST(Config, KeysMayBeWrittenLikeFlags) {
  // Every flag's name is a key: the value has the wrong kind, which only a known key reports.
  const auto* descriptor = proto::TrainConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    std::string name = descriptor->field(i)->name();
    for (char& c : name) c = c == '_' ? '-' : c;
    ExpectInvalid(ParseConfigJson("{\"" + name + "\": null}", "c.json").status(),
                  "key '" + name + "' must be");
    EXPECT_EQ(descriptor->field(i)->json_name(), name);
  }
  const auto parsed =
      ParseConfigJson(R"({"limit-steps": 7, "weight_decay": 0.5, "final-lr": 0.25})", "c.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->limit_steps(), 7u);
  EXPECT_EQ(parsed->weight_decay(), 0.5);
  EXPECT_EQ(parsed->final_lr(), 0.25);
  ExpectInvalid(ParseConfigJson(R"({"limit-steps": 7, "limit_steps": 8})", "c.json").status(),
                "key 'limit_steps' occurs twice");
}

TEST(Config, UnknownKeySuggestsTheNearest) {
  ExpectInvalid(ParseConfigJson(R"({"widht": 8})", "c.json").status(),
                "c.json: unknown key 'widht'; did you mean 'width'?");
  ExpectInvalid(ParseConfigJson(R"({"weightDecay": 0})", "c.json").status(), "'weight_decay'");
}

TEST(Config, BadValuesNameFlagOrKey) {
  ExpectInvalid(GivenBy({"d", "--width", "8.5"}).status(), "--width: '8.5'");
  ExpectInvalid(GivenBy({"d", "--width", "-1"}).status(), "--width: -1 is not between 0 and 4096");
  ExpectInvalid(GivenBy({"d", "--lr", "nan"}).status(), "--lr");
  ExpectInvalid(GivenBy({"d", "--lr", "-1"}).status(), "--lr");
  ExpectInvalid(GivenBy({"d", "--seed", "-1"}).status(), "--seed");
  ExpectInvalid(GivenBy({"d", "--optimizer", "adma"}).status(), "did you mean 'adam'?");
  ExpectInvalid(GivenBy({"d", "--output", ""}).status(), "--output");
  ExpectInvalid(ParseConfigJson(R"({"batch": -3})", "c.json").status(), "c.json: key 'batch'");
  ExpectInvalid(ParseConfigJson(R"({"batch": "many"})", "c.json").status(),
                "c.json: key 'batch' must be a whole number");
  ExpectInvalid(ParseConfigJson(R"({"batch": 2.5})", "c.json").status(), "a whole number");
  ExpectInvalid(ParseConfigJson(R"({"batch": 1e10})", "c.json").status(), "batch");
  ExpectInvalid(ParseConfigJson(R"({"seed": -1})", "c.json").status(), "seed");
  ExpectInvalid(ParseConfigJson(R"({"lr": "0.1"})", "c.json").status(), "a number");
  ExpectInvalid(ParseConfigJson(R"({"nesterov": 1})", "c.json").status(), "true or false");
  ExpectInvalid(ParseConfigJson(R"({"model": null})", "c.json").status(), "a text");
  ExpectInvalid(ParseConfigJson(R"([1])", "c.json").status(), "c.json");
  ExpectInvalid(ParseConfigJson(R"({"batch": )", "c.json").status(), "c.json");
}

TEST(Config, MissingFileIsNotFound) {
  EXPECT_EQ(GivenBy({"d", "--config", "/nonexistent/c.json"}).status().code(),
            StatusCode::kNotFound);
}

TEST(Config, LinesForPeopleHoldEveryField) {
  std::string text;
  for (const std::string& line : ConfigLines(CompleteConfig({}, {}))) {
    EXPECT_LE(line.size(), 78u) << line;
    text += line + "\n";
  }
  EXPECT_NE(text.find("\nModel        model=unet width=0 depth=0\n"), std::string::npos) << text;
  const auto* descriptor = proto::TrainConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    EXPECT_NE(text.find(" " + descriptor->field(i)->name() + "="), std::string::npos);
  }
}

TEST(Config, DifferencesNameFieldAndBothValues) {
  const proto::TrainConfig before = CompleteConfig({}, {});
  proto::TrainConfig after = before;
  EXPECT_TRUE(ConfigDifferences(before, after).empty());
  after.set_batch(before.batch() + 1);
  after.set_schedule("cosine");
  EXPECT_EQ(ConfigDifferences(before, after),
            (std::vector<std::string>{"batch: 8 → 9", "schedule: poly → cosine"}));
}

}  // namespace
}  // namespace shardmill
