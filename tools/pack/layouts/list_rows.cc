#include "tools/pack/layouts/list_rows.h"

#include <algorithm>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/file_format.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxListBytes = uint64_t{1} << 32;

constexpr std::string_view kImageColumns[] = {"image",    "img",       "path",       "file",
                                              "filename", "file_name", "image_path", "filepath",
                                              "image_id", "id",        "name"};
constexpr std::string_view kLabelColumns[] = {
    "label",     "labels",   "mask",       "class",    "target",    "label_path",
    "mask_path", "category", "annotation", "class_id", "classname", "class_name"};
constexpr std::string_view kSplitColumns[] = {"split", "subset", "set", "partition", "fold"};

constexpr size_t kNoColumn = SIZE_MAX;

struct Columns {
  size_t image = 0, label = 1, split = kNoColumn;
};

char SeparatorOf(std::string_view line) {
  for (char separator : {'\t', ',', ';'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

// Fields of a line; those between blanks have no empty ones among them.
Result<std::vector<std::string>> FieldsOf(const std::string& line, char separator) {
  ASSIGN_OR_RETURN(std::vector<std::string> fields, SplitFields(line, separator));
  if (separator == ' ') {
    fields.erase(std::remove(fields.begin(), fields.end(), ""), fields.end());
  }
  return fields;
}

template <size_t kCount>
std::optional<size_t> FindColumn(const std::vector<std::string>& fields,
                                 const std::string_view (&names)[kCount]) {
  for (std::string_view name : names) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (LowerCase(fields[i]) == name) return i;
    }
  }
  return std::nullopt;
}

// The columns that a first line names; nullopt: it is a line like the others.
std::optional<Columns> ParseHeader(const std::string& line, char separator) {
  Result<std::vector<std::string>> fields = FieldsOf(line, separator);
  if (!fields.ok()) return std::nullopt;
  const auto image = FindColumn(*fields, kImageColumns);
  const auto label = FindColumn(*fields, kLabelColumns);
  if (!image.has_value() || !label.has_value()) return std::nullopt;
  return Columns{*image, *label, FindColumn(*fields, kSplitColumns).value_or(kNoColumn)};
}

// Every way to cut a line in two at a run of blanks.
std::vector<ListedPair> CutAtBlanks(const std::string& line) {
  std::vector<ListedPair> pairs;
  for (size_t i = line.find_first_of(" \t"); i != std::string::npos;) {
    const size_t next = line.find_first_not_of(" \t", i);
    pairs.push_back({line.substr(0, i), line.substr(next)});
    i = line.find_first_of(" \t", next);
  }
  return pairs;
}

Result<ListRow> ParseRow(const TextLine& line, char separator, const Columns& columns) {
  ListRow row;
  row.line = line.number;
  const bool words = separator == ' ' && line.text.find('"') == std::string::npos;
  if (words) {
    row.cuts = CutAtBlanks(line.text);
  } else {
    ASSIGN_OR_RETURN(const std::vector<std::string> fields, FieldsOf(line.text, separator));
    if (columns.image < fields.size() && columns.label < fields.size()) {
      row.cuts.push_back({fields[columns.image], fields[columns.label]});
    }
    if (columns.split < fields.size()) row.split = fields[columns.split];
  }
  if (!row.cuts.empty()) return row;
  return InvalidArgumentError("expected an image and its label, found one word");
}

}  // namespace

Result<std::vector<ListRow>> ParseListRows(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<TextLine> lines, SplitLines(text));
  std::vector<ListRow> rows;
  if (lines.empty()) return rows;
  // Paths may hold commas, so a file of commas has one in its first line and a list of tabs too.
  const char separator = SeparatorOf(lines.front().text);
  const std::optional<Columns> header = ParseHeader(lines.front().text, separator);
  for (size_t i = header.has_value() ? 1 : 0; i < lines.size(); ++i) {
    // A list that is not separated throughout may still have tabs or quotes in single lines.
    const char own =
        separator == ' ' && lines[i].text.find('\t') != std::string::npos ? '\t' : separator;
    Result<ListRow> row = ParseRow(lines[i], own, header.value_or(Columns()));
    if (!row.ok()) {
      return InvalidArgumentError("line " + std::to_string(lines[i].number) + ": " +
                                  row.status().message());
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

Result<std::vector<ListRow>> ReadListRows(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxListBytes));
  Result<std::vector<ListRow>> rows = ParseListRows(text);
  if (!rows.ok()) return rows.status().WithContext(path);
  return rows;
}

const ListedFile* ListedFileFinder::Find(std::string_view listed) const {
  std::string with_slashes(listed);
  if (listed.find('/') == std::string_view::npos) {
    std::replace(with_slashes.begin(), with_slashes.end(), '\\', '/');
  }
  std::string_view path = with_slashes;
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  while (!path.empty()) {
    if (path.front() != '/') {
      if (const ListedFile* file = listing_.Find(path)) return file;
    }
    const size_t slash = path.find('/', 1);
    if (slash == std::string_view::npos) {
      return path.front() == '/' ? listing_.Find(path.substr(1)) : nullptr;
    }
    // A path into a folder that is there means a file of that folder, which is missing.
    if (path.front() != '/' && listing_.HasFolder(path.substr(0, slash))) return nullptr;
    path.remove_prefix(path.front() == '/' ? 1 : slash + 1);
  }
  return nullptr;
}

const ListedFile* ListedFileFinder::FindImage(std::string_view listed) {
  if (const ListedFile* file = Find(listed)) return file;
  // A path that names a folder means the file in it, and no other of the same name.
  if (listed.find_first_of("/\\") != std::string_view::npos) return nullptr;
  if (!by_name_.has_value()) {
    by_name_.emplace();
    for (const ListedFile& file : listing_.files) {
      if (!HasImageExtension(file.path)) continue;
      const std::string name = file.path.substr(file.path.rfind('/') + 1);
      for (const std::string& key : {name, std::string(WithoutImageExtension(name))}) {
        auto [found, is_new] = by_name_->emplace(key, &file);
        if (!is_new && found->second != &file) found->second = nullptr;
      }
    }
  }
  const auto found = by_name_->find(std::string(listed.substr(listed.rfind('/') + 1)));
  return found == by_name_->end() ? nullptr : found->second;
}

}  // namespace shardmill
