#include "tools/pack/report/html_report.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/pack_fixture.h"

namespace shardmill {
namespace {

class HtmlReport : public PackFixture {
 protected:
  std::string Page() { return output_.Read(kReportFileName); }
  void ExpectText(const std::string& text) {
    EXPECT_NE(Page().find(text), std::string::npos) << text;
  }
  static int Count(const std::string& page, const std::string& text) {
    int count = 0;
    for (size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1))
      ++count;
    return count;
  }
};

TEST_F(HtmlReport, TellsWhatWasPacked) {
  for (uint64_t i = 0; i < 30; ++i) AddScene("train", "s" + std::to_string(i), {20, 30}, i);
  for (uint64_t i = 0; i < 6; ++i) AddScene("val", "v" + std::to_string(i), {24, 36}, i);
  AddPair("val", "broken.png", "no image", Png(GrayLabel({20, 30}, RandomIds({20, 30}, 1))));
  options_.crop = ImageSize{16, 16};
  options_.on_error = {true, 1};
  ExpectCode(0);
  ExpectText("<b>37</b><span>inputs</span>");
  ExpectText("<b>36</b><span>records</span>");
  ExpectText("<b>1</b><span>inputs left out</span>");
  ExpectText("<code class=\"name\">val/<wbr>broken.png</code>");
  ExpectText("background:#804080\"></span>road</td>");
  ExpectText("20 high × 30 wide</td><td class=\"n\">30</td>");
  ExpectText("24 high × 36 wide</td><td class=\"n\">6</td>");
  ExpectText("taken for layout suite");
  ExpectText("<code>16x16</code>");
  const std::string page = Page();
  EXPECT_EQ(Count(page, "<figure>"), 24);
  EXPECT_EQ(Count(page, "data:image/jpeg;base64,"), 24);
  EXPECT_EQ(Count(page, "data:image/png;base64,"), 24);
  EXPECT_EQ(page.find("://"), std::string::npos);  // nothing is fetched from anywhere
  EXPECT_EQ(page.find(testing::TempDir()), std::string::npos);
}

TEST_F(HtmlReport, LongListsAreCut) {
  constexpr int kOrphans = 1200, kClasses = 6000;
  std::string table = "name,r,g,b\n";
  for (int i = 0; i < kClasses; ++i) {
    table += "c" + std::to_string(i) + "," + std::to_string(i % 256) + "," +
             std::to_string(i / 256) + ",7\n";
  }
  source_.Write("class_dict.csv", table);
  AddPair("train", "a.png", Png(Photo({4, 4}, 1)), Png(GrayLabel({4, 4}, RandomIds({4, 4}, 1))));
  for (int i = 0; i < kOrphans; ++i) {
    source_.Write("train/orphan" + std::to_string(i) + ".png", "");
  }
  options_.on_error.skip = true;
  ExpectCode(6);
  const std::string page = Page();
  EXPECT_EQ(Count(page, "<code class=\"name\">train/<wbr>orphan"), 1000);
  EXPECT_LT(page.find("orphan10.png"), page.find("orphan100.png"));
  EXPECT_LT(page.find("orphan100.png"), page.find("orphan11.png"));
  ExpectText("… and 200 more; manifest.json lists them all.");
  EXPECT_NE(page.find("</span>c4999</td>"), std::string::npos);
  EXPECT_EQ(page.find("</span>c5000</td>"), std::string::npos);
  ExpectText("… and 1,000 more; shardmill dump info lists them all.");
  EXPECT_LT(page.size(), 3u << 20);
}

TEST_F(HtmlReport, DependsOnTheDataSetAlone) {
  for (uint64_t i = 0; i < 5; ++i) AddScene("train", "s" + std::to_string(i), {20, 30}, i);
  ExpectCode(0);
  const std::string first = Page();
  options_.jobs = 5;
  options_.overwrite = true;
  ExpectCode(0);
  EXPECT_EQ(Page(), first);
}

TEST_F(HtmlReport, VariantsOfAnImageCountOnce) {
  for (uint64_t i = 0; i < 4; ++i) AddScene("train", "s" + std::to_string(i), {20, 30}, i);
  options_.crop = ImageSize{10, 10};
  options_.crop_mode = CropMode::kTile;
  ExpectCode(0);
  ExpectText("<b>24</b><span>records</span>");
  ExpectText("4 images in 1 size,");
}

TEST_F(HtmlReport, NamesFromDataAreOnlyText) {
  source_.Write(
      "class_dict.csv",
      "name,r,g,b\n<script>alert(1)</script>,0,0,255\n\"road\",128,64,128\ntree,0,128,0\n");
  AddScene("train", "<img src=x onerror=alert(2)>", {20, 30}, 1);
  ExpectCode(0);
  const std::string page = Page();
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  ExpectText("&lt;script&gt;alert(1)&lt;/script&gt;");
  ExpectText("&lt;img src=x onerror=alert(2)&gt;.png");
}

TEST_F(HtmlReport, ManySizesAreShownByArea) {
  for (uint32_t i = 0; i < 20; ++i) AddScene("train", "s" + std::to_string(i), {20 + i, 30}, i);
  options_.crop = ImageSize{10, 10};
  ExpectCode(0);
  ExpectText("0.000512 to 0.00102 megapixels");
  ExpectText("20 images in 20 sizes");
}

}  // namespace
}  // namespace shardmill
