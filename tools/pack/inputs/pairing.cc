#include "tools/pack/inputs/pairing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/pack/decode/file_format.h"
#include "tools/pack/inputs/record_key.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {
namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The stem of a file below the rule's folder; nullopt: the rule does not take it.
std::optional<std::string> StemOf(std::string_view below, const NameRule& rule,
                                  bool by_name_alone) {
  const std::string_view stem = WithoutImageExtension(below);
  const size_t slash = stem.rfind('/');
  std::string_view folder = slash == std::string_view::npos ? "" : stem.substr(0, slash + 1);
  std::string_view name = stem.substr(folder.size());
  if (rule.HasException() && EndsWith(name, rule.except_suffix) &&
      name.substr(0, rule.except_prefix.size()) == rule.except_prefix) {
    return std::nullopt;
  }
  const bool matches = name.size() > rule.prefix.size() + rule.suffix.size() &&
                       name.substr(0, rule.prefix.size()) == rule.prefix &&
                       EndsWith(name, rule.suffix);
  if (!matches && rule.must_match) return std::nullopt;
  if (rule.must_match) {
    name.remove_prefix(rule.prefix.size());
    name.remove_suffix(rule.suffix.size());
  }
  return by_name_alone ? std::string(name) : std::string(folder) + std::string(name);
}

// The label of an image stem; takes it out of `labels`. nullptr: there is none.
Result<const ListedFile*> TakeLabel(const std::string& stem, const NameRule& rule,
                                    FilesByStem* labels) {
  auto plain = labels->find(stem), dressed = labels->end();
  if (!rule.must_match && !(rule.prefix.empty() && rule.suffix.empty())) {
    const size_t name = stem.rfind('/') + 1;
    dressed = labels->find(stem.substr(0, name) + rule.prefix + stem.substr(name) + rule.suffix);
  }
  if (plain != labels->end() && dressed != labels->end()) {
    return InvalidArgumentError(plain->second->path + " and " + dressed->second->path +
                                " could both be the label of one image; remove one of them");
  }
  auto found = plain != labels->end() ? plain : dressed;
  if (found == labels->end()) return static_cast<const ListedFile*>(nullptr);
  const ListedFile* label = found->second;
  labels->erase(found);
  return label;
}

// Counts files that are left out, for one note.
struct LeftOut {
  uint64_t count = 0;
  std::string last;

  void Add(const std::string& path) {
    ++count;
    last = path;
  }
  void Note(const std::string& what, const std::string& folder,
            std::vector<std::string>* notes) const {
    if (count == 0) return;
    notes->push_back(std::to_string(count) + " " + what + " left out in " +
                     (folder.empty() ? "the source folder" : folder) + ", the last one " + last);
  }
};

// True for the first byte of a mark that changes the letter before it, U+0300 to U+036F.
bool BeginsAccent(std::string_view text, size_t place) {
  const auto first = static_cast<uint8_t>(text[place]);
  const auto second = static_cast<uint8_t>(place + 1 < text.size() ? text[place + 1] : 0);
  return (first == 0xCC && second >= 0x80) || (first == 0xCD && second < 0xB0);
}

// The letters of a name that cannot be written in two ways: "Ü" is one character, or "U" and the
// accent that follows.
std::string PlainLetters(std::string_view name) {
  std::string letters;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_ascii = static_cast<uint8_t>(name[i]) < 0x80;
    if (is_ascii && !(i + 1 < name.size() && BeginsAccent(name, i + 1))) letters += name[i];
  }
  return letters;
}

bool HoldsAccent(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    if (BeginsAccent(name, i)) return true;
  }
  return false;
}

// A stem that looks like this one: it differs in the case of its letters alone, or in how accents
// are written, which some systems change when they copy files.
std::string NearHint(const std::string& stem, const FilesByStem& others) {
  const std::string lower = LowerCase(stem), plain = PlainLetters(stem);
  const bool holds_accent = HoldsAccent(stem);
  for (const auto& [other, file] : others) {
    if (LowerCase(other) == lower) return "; " + file->path + " differs in upper and lower case";
    if (HoldsAccent(other) != holds_accent && PlainLetters(other) == plain) {
      return "; " + file->path + " differs in how its accents are written";
    }
  }
  return "";
}

constexpr size_t kHintsSearched = 1000;

Status AddOrphans(const FilesByStem& orphans, const FilesByStem& others, const std::string& what,
                  const std::string& folder, InputSplit* split) {
  size_t searched = 0;
  for (const auto& [stem, file] : orphans) {
    ASSIGN_OR_RETURN(std::string key, RecordKey(file->path));
    const std::string hint = searched++ < kHintsSearched ? NearHint(stem, others) : "";
    split->problems.push_back({key, "there is no " + what + " with this stem in " +
                                        (folder.empty() ? "the source folder" : folder) + hint});
    split->problems.back().lacks_label = what == "label";
  }
  return OkStatus();
}

}  // namespace

Result<FilesByStem> CollectStems(const FolderListing& listing, const NameRule& rule,
                                 bool by_name_alone, std::vector<std::string>* notes) {
  FilesByStem stems;
  LeftOut no_images, not_matching;
  auto [begin, end] = listing.FilesBelow(rule.folder);
  const size_t folder_bytes = rule.folder.empty() ? 0 : rule.folder.size() + 1;
  for (size_t i = begin; i < end; ++i) {
    const ListedFile& file = listing.files[i];
    if (!HasImageExtension(file.path)) {
      no_images.Add(file.path);
      continue;
    }
    auto stem = StemOf(std::string_view(file.path).substr(folder_bytes), rule, by_name_alone);
    if (!stem.has_value()) {
      not_matching.Add(file.path);
      continue;
    }
    // Files are listed in order: nearly always the new stem is the last one.
    const size_t stems_before = stems.size();
    const auto other = stems.emplace_hint(stems.end(), *std::move(stem), &file);
    if (stems.size() == stems_before) {
      return InvalidArgumentError(file.path + " and " + other->second->path +
                                  " have the same stem, so their partner is not certain; rename or "
                                  "move one of them");
    }
  }
  no_images.Note("without an image's extension", rule.folder, notes);
  if (!rule.HasException()) {
    not_matching.Note("not named " + rule.prefix + "…" + rule.suffix, rule.folder, notes);
  }
  return stems;
}

Result<Sample> MakePair(const ListedFile& image, const ListedFile& label) {
  if (image.path == label.path) {
    return InvalidArgumentError(image.path + " is both the image and the label of one pair");
  }
  Sample sample;
  ASSIGN_OR_RETURN(sample.key, RecordKey(image.path));
  sample.image = {image.path, image.bytes, image.changed_ns};
  sample.label = {label.path, label.bytes, label.changed_ns};
  return sample;
}

Result<InputSplit> PairByStem(const FolderListing& listing, const std::string& split,
                              const PairRules& rules, std::vector<std::string>* notes) {
  InputSplit result;
  result.name = split;
  ASSIGN_OR_RETURN(FilesByStem images,
                   CollectStems(listing, rules.images, rules.by_name_alone, notes));
  ASSIGN_OR_RETURN(FilesByStem labels,
                   CollectStems(listing, rules.labels, rules.by_name_alone, notes));
  FilesByStem without_label;
  result.samples.reserve(images.size());
  for (const auto& [stem, image] : images) {
    ASSIGN_OR_RETURN(const ListedFile* label, TakeLabel(stem, rules.labels, &labels));
    if (label == nullptr) {
      without_label.emplace(stem, image);
      continue;
    }
    ASSIGN_OR_RETURN(Sample sample, MakePair(*image, *label));
    result.samples.push_back(std::move(sample));
  }
  RETURN_IF_ERROR(AddOrphans(without_label, labels, "label", rules.labels.folder, &result));
  RETURN_IF_ERROR(AddOrphans(labels, without_label, "image", rules.images.folder, &result));
  return result;
}

Status SortAndCheckKeys(InputSet* set) {
  std::map<std::string_view, std::string_view> split_of_key;
  auto less = [](const auto& a, const auto& b) { return a.key < b.key; };
  for (InputSplit& split : set->splits) {
    std::sort(split.samples.begin(), split.samples.end(), less);
    std::sort(split.problems.begin(), split.problems.end(), less);
    for (const Sample& sample : split.samples) {
      auto [other, is_new] = split_of_key.emplace(sample.key, split.name);
      if (is_new) continue;
      std::string where =
          other->second == split.name
              ? "twice in split " + split.name
              : "in the splits " + std::string(other->second) + " and " + split.name;
      return InvalidArgumentError(sample.key + " stands " + where + "; list each image once");
    }
  }
  return OkStatus();
}

}  // namespace shardmill
