#include "tools/bench/read_report.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "tools/bench/spread.h"

namespace shardmill {
namespace {

ReadReport SampleReport() {
  ReadReport report;
  report.cpus = 2;
  ReadFigures figures;
  figures.set = "1.0 MiB";
  figures.fields = "image raw";
  figures.record_bytes = 1'000'000;
  figures.unchecked.first_epoch = {2, 2, 1000};  // 500 records a second
  figures.unchecked.later_epoch = {1, 1, 1000};
  figures.unchecked.times.copy_ns = 750;
  figures.unchecked.times.wait_for_slot_ns = 250;
  figures.unchecked.of_loop = {0.8, 0.75, 0.875};
  figures.unchecked.first_of_later = {0.5, 0.45, 0.5};
  figures.unchecked.first_of_later_written = {0.6, 0.55, 0.7};
  figures.first_touch = figures.unchecked;
  figures.first_touch.of_loop = {0.64, 0.6, 0.7};
  figures.first_touch.later_epoch = {1, 1, 800};
  figures.first_touch.first_times.checksum_ns = 300;
  figures.first_touch.first_times.copy_ns = 700;
  figures.gather = {1, 1, 1250};
  figures.gather_of_itself = {1, 0.98, 1.02};
  figures.gather_first = {2, 1, 1000};
  figures.checked_first = {2, 1, 500};
  figures.pread = {1, 1, 625};
  report.sets.push_back(figures);
  return report;
}

TEST(ReadReport, TextShowsRatesAndRatios) {
  const std::string text = ReadReportText(SampleReport(), false);
  const std::string speed =
      "off              1,000  1.00      1.0000  80% (75-88)       1.25      0.8000  100% (98-102)";
  EXPECT_NE(text.find(speed), std::string::npos) << text;
  EXPECT_NE(text.find("first-touch        800  0.80      1.2500  64% (60-70)\n"), std::string::npos)
      << text;
  const std::string epochs = "off                0.50  50% (45-50)   60% (55-70)              0.50";
  EXPECT_NE(text.find(epochs), std::string::npos) << text;
  EXPECT_EQ(text.find("one_hot"), std::string::npos) << text;
  EXPECT_EQ(text.find("First batch"), std::string::npos) << text;
}

TEST(ReadReport, PlotHasABarForEachPolicyAndTheFirstEpochWithTheSharesOfStages) {
  const StackedPlot plot = ReadReportPlot(SampleReport());
  ASSERT_EQ(plot.bars.size(), 3u);
  EXPECT_DOUBLE_EQ(plot.bars[1].shares[2], 0.3);  // checksum
  double sum = 0;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const double share = plot.bars[0].shares[i];
    sum += share;
    if (plot.series[i].name == "copy") {
      EXPECT_DOUBLE_EQ(share, 0.75);
    }
  }
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(ReadReport, JsonHasTheSameFigures) {
  google::protobuf::Struct document;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(ReadReportJson(SampleReport()), &document).ok());
  const auto& set = document.fields().at("sets").list_value().values(0).struct_value();
  const auto& loader = set.fields().at("checksums_off").struct_value();
  const auto& rate = loader.fields().at("later_epoch").struct_value();
  EXPECT_EQ(rate.fields().at("samples_per_second").number_value(), 1000);
  EXPECT_EQ(rate.fields().at("bytes_per_second").number_value(), 1e9);
  const auto& of_loop = loader.fields().at("of_loop").struct_value();
  EXPECT_EQ(of_loop.fields().at("median").number_value(), 0.8);
  EXPECT_EQ(document.fields().at("first_batch").kind_case(), google::protobuf::Value::kNullValue);
}

TEST(Spread, IsTheMedianAndTheQuartilesOfAnyNumberOfValues) {
  const Spread four = SpreadOf({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(four.median, 2.5);
  EXPECT_DOUBLE_EQ(four.low, 1.75);
  EXPECT_DOUBLE_EQ(four.high, 3.25);
  const Spread one = SpreadOf({7});
  EXPECT_DOUBLE_EQ(one.low, 7);
  EXPECT_DOUBLE_EQ(one.high, 7);
  EXPECT_DOUBLE_EQ(SpreadOf({}).median, 0);
}

TEST(Spread, MedianRateIsATurnThatWasMeasured) {
  const std::vector<Rate> turns = {{1, 1, 30}, {1, 2, 10}, {1, 3, 20}, {1, 4, 40}};
  EXPECT_DOUBLE_EQ(MedianRate(turns).per_second(), 20);
  EXPECT_DOUBLE_EQ(MedianRate(turns).cpu_seconds, 3);
  EXPECT_FALSE(MedianRate({}).measured());
  EXPECT_DOUBLE_EQ(SpeedBeside({1, 1, 30}, {1, 1, 50}, {1, 1, 70}), 0.5);
}

}  // namespace
}  // namespace shardmill
