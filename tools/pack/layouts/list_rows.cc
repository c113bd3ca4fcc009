#include "tools/pack/layouts/list_rows.h"

#include <algorithm>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/layouts/list_columns.h"

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

// What a column like is_valid means by its word.
Result<std::string> SplitOfAnswer(const std::string& answer, const ListColumns& columns) {
  const std::string lower = LowerCase(answer);
  for (const char* yes : {"true", "yes", "1"}) {
    if (lower == yes) return columns.split_of_yes;
  }
  for (const char* no : {"false", "no", "0"}) {
    if (lower == no) return columns.split_of_no;
  }
  return InvalidArgumentError("'" + answer + "' is neither True nor False, as whether it is of " +
                              columns.split_of_yes);
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
  if (!columns.split_of_yes.empty()) {
    ASSIGN_OR_RETURN(row.split, SplitOfAnswer(row.split, columns));
  }
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
  has_header_ = result_.has_header = header.has_value();
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
  if (!lines.ok()) return {{}, false, {}, lines.status()};
  return lines->empty() ? ListLines() : ListParser(*lines).Parse();
}

ListLines ReadListLines(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxListBytes);
  if (!text.ok()) return {{}, false, {}, text.status()};
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

}  // namespace shardmill
