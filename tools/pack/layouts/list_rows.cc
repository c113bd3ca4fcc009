#include "tools/pack/layouts/list_rows.h"

#include <algorithm>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/file_format.h"
#include "tools/pack/layouts/list_columns.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxListBytes = uint64_t{1} << 32;

// More words are no line of a list, and trying each blank would take for ever.
constexpr size_t kMostCuts = 100;

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

// Every way to cut a line in two at a run of blanks, or one more than kMostCuts.
std::vector<ListedPair> CutAtBlanks(const std::string& line) {
  std::vector<ListedPair> pairs;
  for (size_t i = line.find_first_of(" \t"); i != std::string::npos && pairs.size() <= kMostCuts;) {
    const size_t next = line.find_first_not_of(" \t", i);
    pairs.push_back({line.substr(0, i), line.substr(next)});
    i = line.find_first_of(" \t", next);
  }
  return pairs;
}

// Spreadsheets leave empty fields behind the last column: those beyond `least` do not count.
size_t CountWithoutEnd(const std::vector<std::string>& fields, size_t least) {
  size_t count = fields.size();
  while (count > least && fields[count - 1].empty()) --count;
  return count;
}

Status CheckCount(const std::vector<std::string>& fields, size_t wanted) {
  const size_t count = CountWithoutEnd(fields, wanted);
  if (wanted == 0 || count == wanted) return OkStatus();
  return InvalidArgumentError(std::to_string(count) + " fields, and the first line has " +
                              std::to_string(wanted) +
                              "; put quotes around fields that hold a separator");
}

Result<ListRow> ParseFields(const std::vector<std::string>& fields, const ListColumns& columns) {
  ListRow row;
  RETURN_IF_ERROR(CheckCount(fields, columns.count));
  if (columns.image < fields.size() && columns.label < fields.size() &&
      !fields[columns.image].empty() && !fields[columns.label].empty()) {
    row.cuts.push_back({fields[columns.image], fields[columns.label]});
  }
  if (columns.split == kNoColumn) return row;
  if (columns.split < fields.size()) row.split = fields[columns.split];
  if (row.split.empty()) return InvalidArgumentError("its column of splits is empty");
  return row;
}

Result<ListRow> ParseRow(const TextLine& line, char separator, const ListColumns& columns) {
  ListRow row;
  const bool words = separator == ' ' && line.text.find('"') == std::string::npos;
  if (words) {
    row.cuts = CutAtBlanks(line.text);
    if (row.cuts.size() > kMostCuts) {
      return InvalidArgumentError("more than " + std::to_string(kMostCuts) + " words");
    }
    if (columns.label < columns.image) SwapColumns(&row);
  } else {
    ASSIGN_OR_RETURN(const std::vector<std::string> fields, FieldsOf(line.text, separator));
    ASSIGN_OR_RETURN(row, ParseFields(fields, columns));
  }
  row.line = line.number;
  return row;
}

class ListParser {
 public:
  explicit ListParser(const std::vector<TextLine>& lines);
  ListLines Parse();

 private:
  void AddLine(const TextLine& line);
  void AddProblem(const TextLine& line, std::string_view what);

  const std::vector<TextLine>& lines_;
  // Paths may hold commas, so a file of commas has one in its first line and a list of tabs too.
  char separator_;
  ListColumns columns_;
  bool has_header_ = false;
  ListLines result_;
};

ListParser::ListParser(const std::vector<TextLine>& lines)
    : lines_(lines), separator_(SeparatorOf(lines.front().text)) {
  Result<std::vector<std::string>> fields = FieldsOf(lines.front().text, separator_);
  if (!fields.ok()) return;  // told when the line is read
  const std::optional<ListHeader> header = ParseListHeader(*fields);
  has_header_ = header.has_value();
  if (has_header_) columns_ = header->columns;
  if (has_header_ && !header->problem.empty()) AddProblem(lines.front(), header->problem);
  if (separator_ == ' ') return;
  columns_.count = CountWithoutEnd(*fields, 1);
  if (has_header_ || columns_.count <= 2) return;
  AddProblem(lines.front(), std::to_string(columns_.count) +
                                " fields; name the columns in a first line, as in image,label, so "
                                "that it is certain which of them is the label");
}

void ListParser::AddProblem(const TextLine& line, std::string_view what) {
  if (!result_.problem.ok()) return;
  result_.problem =
      InvalidArgumentError("line " + std::to_string(line.number) + ": " + std::string(what));
}

void ListParser::AddLine(const TextLine& line) {
  // A list that is not separated throughout may still have tabs or quotes in single lines.
  const bool has_tab = line.text.find('\t') != std::string::npos;
  Result<ListRow> row = ParseRow(line, separator_ == ' ' && has_tab ? '\t' : separator_, columns_);
  if (!row.ok()) return AddProblem(line, row.status().message());
  if (!row->cuts.empty()) return result_.rows.push_back(*std::move(row));
  result_.single_words.push_back(line.text);
  AddProblem(line, "expected an image and its label, found one word");
}

ListLines ListParser::Parse() {
  for (size_t i = has_header_ ? 1 : 0; i < lines_.size(); ++i) AddLine(lines_[i]);
  return std::move(result_);
}

}  // namespace

ListLines ParseListLines(std::string_view text) {
  const Result<std::vector<TextLine>> lines = SplitLines(text);
  if (!lines.ok()) return {{}, {}, lines.status()};
  return lines->empty() ? ListLines() : ListParser(*lines).Parse();
}

ListLines ReadListLines(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxListBytes);
  if (!text.ok()) return {{}, {}, text.status()};
  ListLines lines = ParseListLines(*text);
  if (!lines.problem.ok()) lines.problem = lines.problem.WithContext(path);
  return lines;
}

Result<std::vector<ListRow>> ReadListRows(const std::string& path) {
  ListLines lines = ReadListLines(path);
  RETURN_IF_ERROR(lines.problem);
  return std::move(lines.rows);
}

void SwapColumns(ListRow* row) {
  for (ListedPair& pair : row->cuts) std::swap(pair.image, pair.label);
}

bool IsListHeader(const std::vector<std::string>& fields) {
  return ParseListHeader(fields).has_value();
}

bool MayBePath(std::string_view word) {
  return HasImageExtension(word) || word.find_first_of("/\\") != std::string_view::npos;
}

std::string DescribeHeader(const std::string& list_file, const ListedPair& words) {
  return list_file + " line 1 ('" + words.image + "', '" + words.label +
         "') is taken for the names of its columns: there is no such image";
}

namespace {

// A path from the root of another machine's disk, of a drive, or of a store: "s3://bucket/x".
bool IsAbsolute(std::string_view path) {
  if (path.empty()) return false;
  const char letter = static_cast<char>(path.front() | 0x20);
  const bool has_drive = letter >= 'a' && letter <= 'z' && path.substr(1, 2) == ":/";
  return path.front() == '/' || path.substr(0, 2) == "~/" || has_drive ||
         path.find("://") != std::string_view::npos;
}

std::string WithSlashes(std::string_view listed) {
  std::string path(listed);
  if (path.find('/') == std::string::npos) std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

}  // namespace

const ListedFile* ListedFileFinder::Find(std::string_view listed) const {
  const std::string with_slashes = WithSlashes(listed);
  std::string_view path = with_slashes;
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  // Without its first folders a relative path would be another file.
  if (!IsAbsolute(path)) return listing_.Find(path);
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

Status ListedRoots::Add(const std::string& listed, const ListedFile& found,
                        const std::string& where) {
  const std::string path = WithSlashes(listed);
  if (!IsAbsolute(path) || path.size() <= found.path.size()) return OkStatus();
  const std::string root = path.substr(0, path.size() - found.path.size());
  if (!line_of_root_.emplace(root, where).second) return OkStatus();
  auto other = line_of_root_.upper_bound(root);
  if (other != line_of_root_.end() && other->first.rfind(root, 0) != 0) other = line_of_root_.end();
  for (size_t slash = root.find('/'); slash + 1 < root.size() && other == line_of_root_.end();
       slash = root.find('/', slash + 1)) {
    other = line_of_root_.find(root.substr(0, slash + 1));
  }
  if (other == line_of_root_.end()) return OkStatus();
  return InvalidArgumentError(where + " names " + listed + ", which is found if " + root +
                              " means the source folder, and by " + other->second + " it is " +
                              other->first + " that does: one of the two files is not there. " +
                              "Write paths below the source folder into the list");
}

std::string ImageAlone(const std::string& line, ListedFileFinder* finder) {
  if (finder->FindImage(line) != nullptr) return line;
  const Result<std::vector<std::string>> fields = SplitFields(line, '\t');
  return fields.ok() ? fields->front() : line;
}

}  // namespace shardmill
