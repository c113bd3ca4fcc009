#include "tools/pack/report/html_text.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

TEST(HtmlText, NamesCannotEndTheirElement) {
  EXPECT_EQ(EscapeHtml("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
  EXPECT_EQ(EscapeHtml("a\nb\xff"), "a\\x0ab\\xff");
  EXPECT_EQ(EscapeHtml("Straße 道"), "Straße 道");
}

// The examples of RFC 4648, section 10.
TEST(HtmlText, LongNamesBreakBehindTheirParts) {
  EXPECT_EQ(LongName("a/b_c-d.png"), "<code class=\"name\">a/<wbr>b_<wbr>c-<wbr>d.png</code>");
  EXPECT_EQ(LongName("<'&>"), "<code class=\"name\">&lt;&#39;&amp;&gt;</code>");
}

TEST(HtmlText, Base64KnowsItsPadding) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(HtmlText, BarsStayInTheirColumn) {
  EXPECT_NE(Bar(0.5, 0xff8000).find("width:50.00%;background:#ff8000"), std::string::npos);
  EXPECT_NE(Bar(7, 0).find("width:100.00%"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
