#include "tools/pack/report/html_report.h"

#include <algorithm>
#include <memory>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/console/units.h"
#include "reader/statistics.h"
#include "tools/dump/describe.h"
#include "tools/dump/palette.h"
#include "tools/dump/shard_set.h"
#include "tools/pack/report/html_style.h"
#include "tools/pack/report/html_text.h"
#include "tools/pack/report/samples.h"
#include "tools/pack/report/source_sizes.h"

namespace shardmill {
namespace {

constexpr uint64_t kSamples = 24;
constexpr size_t kMostSkipped = 1000;
constexpr int kMostClasses = 5000;
constexpr uint32_t kAccent = 0x2e86de;

std::string Card(const std::string& title, const std::string& body,
                 const std::string& css_class = "") {
  return "<section class=\"" + css_class + "\"><h2>" + title + "</h2>\n" + body + "</section>\n";
}

std::string Tile(const std::string& value, const std::string& what) {
  return "<div class=\"tile\"><b>" + value + "</b><span>" + what + "</span></div>\n";
}

std::string NumberCell(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }
std::string NumberHead(const std::string& text) { return "<th class=\"n\">" + text + "</th>"; }

uint64_t At(const google::protobuf::RepeatedField<uint64_t>& values, int id) {
  return id < values.size() ? values.Get(id) : 0;
}

uint64_t Total(const google::protobuf::RepeatedField<uint64_t>& values) {
  uint64_t total = 0;
  for (uint64_t value : values) total += value;
  return total;
}

// The plan lists them in its own order, in which none is found.
std::vector<const proto::SkippedInput*> SortedByKey(const proto::Split& split) {
  std::vector<const proto::SkippedInput*> inputs;
  for (const proto::SkippedInput& skipped : split.skipped()) inputs.push_back(&skipped);
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const auto* a, const auto* b) { return a->key() < b->key(); });
  return inputs;
}

// The page of one data set.
class Page {
 public:
  Page(const ShardSet& set, const ReportContext& context)
      : set_(set), context_(context), palette_(set.schema().classes) {
    for (const proto::Split& split : set.manifest().splits()) {
      AddStatistics(split.statistics(), &all_);
      skipped_ += static_cast<uint64_t>(split.skipped_size());
      for (const proto::ShardInfo& shard : split.shards()) shard_bytes_ += shard.bytes();
    }
    segmentation_ = set.schema().FindRole(Role::kClassMap).has_value();
  }

  Result<std::string> Make() const;

 private:
  std::string Title() const;
  std::string Header() const;
  std::string Tiles() const;
  std::string Understood() const;
  std::string Splits() const;
  std::string Classes() const;
  std::string ClassRow(int id) const;
  std::string SizeHistogram(const SourceSizes& sizes) const;
  std::string Skipped() const;
  std::string Records() const;
  std::string Recipe() const;

  const ShardSet& set_;
  const ReportContext& context_;
  const ClassPalette palette_;
  proto::Statistics all_;
  uint64_t skipped_ = 0, shard_bytes_ = 0;
  bool segmentation_ = false;
};

// The name of the source folder: that of the data set's own is not part of what was packed.
std::string Page::Title() const {
  std::string source = context_.source;
  while (source.size() > 1 && source.back() == '/') source.pop_back();
  return EscapeHtml(FileName(source));
}

std::string Page::Header() const {
  const proto::Manifest& manifest = set_.manifest();
  return "<header><h1>" + Title() + "</h1><p>packed by shardmill " +
         EscapeHtml(manifest.recipe().tool_version()) + ", layout " +
         EscapeHtml(manifest.recipe().layout()) + " · data set <code>" +
         EscapeHtml(manifest.dataset_id()) + "</code></p></header>\n";
}

std::string Page::Tiles() const {
  std::string growth;
  if (context_.source_bytes > 0) {
    growth = DescribeNumber(
        static_cast<double>(shard_bytes_) / static_cast<double>(context_.source_bytes), 2);
  }
  std::string html = "<div class=\"tiles\">\n";
  html += Tile(FormatCount(context_.inputs), "inputs");
  html += Tile(FormatCount(all_.records()), "records");
  html += Tile(FormatCount(skipped_), "inputs left out");
  html += Tile(FormatBytes(context_.source_bytes), "read");
  html += Tile(FormatBytes(shard_bytes_),
               "written" + (growth.empty() ? "" : ", " + growth + " × as much"));
  html += Tile(FormatCount(set_.schema().classes.size()), "classes");
  return html + "</div>\n";
}

std::string Page::Understood() const {
  std::string html = "<ul>\n";
  for (const std::string& note : context_.notes) html += "<li>" + EscapeHtml(note) + "</li>\n";
  for (const auto& [what, count] : context_.conversions) {
    html += "<li>" + EscapeHtml(what) + ": " + FormatCount(count) +
            (count == 1 ? " file" : " files") + "</li>\n";
  }
  if (set_.schema().ignore.has_value()) {
    html += "<li>label value " + std::to_string(*set_.schema().ignore) +
            " means no class; padding has it too</li>\n";
  }
  return Card("How the folder was understood", html + "</ul>\n");
}

std::string Page::Splits() const {
  std::string html = "<table><tr><th>split</th>" + NumberHead("records") + NumberHead("shards") +
                     NumberHead("bytes") + NumberHead("left out") +
                     "<th>share of the records</th></tr>\n";
  for (const proto::Split& split : set_.manifest().splits()) {
    uint64_t bytes = 0;
    for (const proto::ShardInfo& shard : split.shards()) bytes += shard.bytes();
    const double share = all_.records() == 0 ? 0
                                             : static_cast<double>(split.records()) /
                                                   static_cast<double>(all_.records());
    html += "<tr><td>" + EscapeHtml(split.name()) + "</td>" +
            NumberCell(FormatCount(split.records())) +
            NumberCell(FormatCount(static_cast<uint64_t>(split.shards_size()))) +
            NumberCell(FormatBytes(bytes)) +
            NumberCell(FormatCount(static_cast<uint64_t>(split.skipped_size()))) + "<td>" +
            Bar(share, kAccent) + "</td></tr>\n";
  }
  return Card("Splits", html + "</table>\n");
}

std::string Page::ClassRow(int id) const {
  const uint64_t most = all_.class_pixels().empty() ? 0
                                                    : *std::max_element(all_.class_pixels().begin(),
                                                                        all_.class_pixels().end());
  const uint64_t count = At(all_.class_pixels(), id);
  const uint32_t color = HexFromRgb(palette_.color(id));
  std::string html = "<tr>" + NumberCell(std::to_string(id)) +
                     "<td><span class=\"swatch\" style=\"background:" + DescribeColor(color) +
                     "\"></span>" +
                     EscapeHtml(set_.schema().classes[static_cast<size_t>(id)].name) + "</td>";
  for (const proto::Split& split : set_.manifest().splits()) {
    const auto& counts = split.statistics().class_pixels();
    html += NumberCell(DescribeShare(At(counts, id), Total(counts)));
  }
  if (segmentation_) html += NumberCell(FormatCount(At(all_.class_images(), id)));
  // As long as the commonest class would be over the whole column.
  return html + "<td>" +
         Bar(most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most), color) +
         "</td></tr>\n";
}

std::string Page::Classes() const {
  const auto classes = static_cast<int>(set_.schema().classes.size());
  std::string html = "<table><tr>" + NumberHead("id") + "<th>class</th>";
  for (const proto::Split& split : set_.manifest().splits()) {
    html += NumberHead(EscapeHtml(split.name()));
  }
  if (segmentation_) html += NumberHead("records with it");
  html += "<th>in all, beside the commonest</th></tr>\n";
  for (int id = 0; id < std::min(classes, kMostClasses); ++id) html += ClassRow(id);
  html += "</table>\n";
  if (classes > kMostClasses) {
    html += "<p class=\"note\">… and " +
            FormatCount(static_cast<uint64_t>(classes - kMostClasses)) +
            " more; shardmill dump info lists them all.</p>\n";
  }
  const uint64_t labelled = Total(all_.class_pixels());
  std::string note = segmentation_ ? "Shares are of the pixels that have a class. "
                                   : "Shares are of the records. ";
  if (all_.ignore_pixels() > 0) {
    note += "<span class=\"swatch hatch\"></span>" +
            DescribeShare(all_.ignore_pixels(), all_.ignore_pixels() + labelled) +
            " of all pixels have none; padding is not counted.";
  }
  return Card("Classes", html + "<p class=\"note\">" + note + "</p>\n");
}

std::string Page::SizeHistogram(const SourceSizes& sizes) const {
  uint64_t most = 1;
  for (const SizeBar& bar : sizes.bars) most = std::max(most, bar.sources);
  std::string html = "<table>\n";
  for (const SizeBar& bar : sizes.bars) {
    html += "<tr><td style=\"white-space:nowrap\">" + EscapeHtml(bar.label) + "</td>" +
            NumberCell(FormatCount(bar.sources)) + "<td style=\"width:55%\">" +
            Bar(static_cast<double>(bar.sources) / static_cast<double>(most), kAccent) +
            "</td></tr>\n";
  }
  html += "</table>\n<p class=\"note\">" + FormatCount(sizes.sources) + " images in " +
          FormatCount(sizes.distinct) + (sizes.distinct == 1 ? " size" : " sizes") +
          ", upright, before any resizing or crop.</p>\n";
  return Card("Sizes of the images", html);
}

std::string Page::Skipped() const {
  if (skipped_ == 0 && all_.dropped_records() == 0) return "";
  std::string html = "<table><tr><th>split</th><th>input</th><th>reason</th></tr>\n";
  size_t shown = 0;
  for (const proto::Split& split : set_.manifest().splits()) {
    for (const proto::SkippedInput* skipped : SortedByKey(split)) {
      if (shown++ >= kMostSkipped) break;
      html += TableRow(
          {EscapeHtml(split.name()), LongName(skipped->key()), EscapeHtml(skipped->reason())});
    }
  }
  html += "</table>\n";
  if (skipped_ == 0) html.clear();
  if (skipped_ > kMostSkipped) {
    html += "<p class=\"note\">… and " + FormatCount(skipped_ - kMostSkipped) +
            " more; manifest.json lists them all.</p>\n";
  }
  if (all_.dropped_records() > 0) {
    html += "<p class=\"note\">" + FormatCount(all_.dropped_records()) +
            " windows were dropped, because too much of them is ignored.</p>\n";
  }
  return Card("Left out", html, "warn");
}

std::string Page::Records() const {
  std::string html = "<table><tr><th>field</th><th>type</th><th>shape</th><th>stored</th></tr>\n";
  for (const FieldSpec& field : set_.schema().fields) {
    html += TableRow({EscapeHtml(field.name), std::string(DTypeName(field.dtype)),
                      DescribeShape(field.shape), DescribeStorage(field)});
  }
  html += "</table>\n";
  std::string moments;
  const proto::Manifest& manifest = set_.manifest();
  for (const ChannelMoments& channel : MomentsOfChannels(manifest.splits(0).statistics())) {
    moments += (moments.empty() ? "" : ", ") + DescribeNumber(channel.mean, 2) + " ± " +
               DescribeNumber(channel.standard_deviation, 2);
  }
  if (!moments.empty()) {
    html += "<p class=\"note\">Mean ± standard deviation of the channels in " +
            EscapeHtml(manifest.splits(0).name()) + ": " + moments + "</p>\n";
  }
  return Card("Records", html);
}

std::string Page::Recipe() const {
  std::string html = "<table class=\"recipe\">\n";
  for (const proto::Recipe::Option& option : set_.manifest().recipe().options()) {
    html += TableRow({"<code>" + EscapeHtml(option.name()) + "</code>",
                      "<code>" + EscapeHtml(option.value()) + "</code>"});
  }
  return Card("Recipe", html +
                            "</table>\n<p class=\"note\">All that decides the bytes: the "
                            "same inputs and recipe give the same shards.</p>\n");
}

Result<std::string> Page::Make() const {
  ASSIGN_OR_RETURN(const SourceSizes sizes, CountSourceSizes(set_));
  ASSIGN_OR_RETURN(const std::string samples,
                   DrawSamples(set_, palette_, kSamples, context_.threads));
  const std::string hint =
      segmentation_ ? "<p class=\"note\">Point at a picture to see it without its label.</p>\n"
                    : "";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
         "data:; "
         "style-src 'unsafe-inline'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         Title() + ": pack report</title>\n<style>" + kReportStyle +
         "</style></head>\n<body><main>\n" + Header() + Tiles() + Skipped() + Understood() +
         Splits() + Classes() +
         Card("Samples", "<div class=\"samples\">\n" + samples + "</div>\n" + hint) +
         SizeHistogram(sizes) + Records() + Recipe() + "</main></body></html>\n";
}

}  // namespace

Result<std::string> MakeHtmlReport(const std::string& folder, const ReportContext& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ShardSet> set, ShardSet::Open(folder, ""));
  return Page(*set, context).Make();
}

Status WriteHtmlReport(const std::string& folder, const ReportContext& context) {
  ASSIGN_OR_RETURN(const std::string html, MakeHtmlReport(folder, context));
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(JoinPath(folder, kReportFileName)));
  RETURN_IF_ERROR(file.Append(html.data(), html.size()));
  return file.Commit();
}

}  // namespace shardmill
