#include "tools/pack/output/pack_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "reader/base/file.h"

namespace shardmill {
namespace {

// Shards of state 1 may have left out inputs that only could not be read for a while; state 2 had
// the values as they are; state 3 did not know the finished shards.
constexpr std::string_view kFirstLine = "shardmill pack state 4";
constexpr std::string_view kEnd = "end ";
constexpr size_t kSumDigits = 16;
constexpr std::string_view kKept = "kept", kMade = "made";
constexpr uint64_t kMaxStateBytes = uint64_t{1} << 36;
constexpr size_t kDifferencesShown = 5;

// Values may be any text: a line of the state stays a line.
std::string Escape(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '\n') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text;
}

std::string Unescape(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    if (escaped) ++i;
    value += escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return value;
}

void AddInput(const InputState& input, std::string* text) {
  *text += input.key;
  for (const std::string& number :
       {std::to_string(input.image_bytes), std::to_string(input.times.image_ns),
        std::to_string(input.label_bytes), std::to_string(input.times.label_ns)}) {
    *text += '\t' + number;
  }
  *text += '\n';
}

std::string HexOf(uint64_t number) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(kSumDigits, '0');
  for (size_t i = kSumDigits; i-- > 0; number >>= 4) text[i] = kDigits[number & 15];
  return text;
}

std::string SumOf(std::string_view text) { return HexOf(Checksum64(text.data(), text.size())); }

std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

std::string ShardLine(std::string_view kind, const std::string& file, const Digest& digest) {
  const std::string line = std::string(kind) + '\t' + file + '\t' + DigestToHex(digest);
  return line + '\t' + SumOf(line) + '\n';
}

// A line that was cut off, or written over, says nothing.
void ParseShardLine(std::string_view line, PackState* state) {
  const size_t body_bytes = std::min(line.rfind('\t'), line.size());
  if (line.substr(body_bytes) != "\t" + SumOf(line.substr(0, body_bytes))) return;
  std::string_view rest = line.substr(0, body_bytes);
  const std::string_view kind = TakeUntil(&rest, '\t');
  const std::string file(TakeUntil(&rest, '\t'));
  const std::optional<Digest> digest = DigestFromHex(rest);
  if (digest.has_value()) state->shards[file] = {*digest, kind == kKept};
}

// Takes lines and their parts off the front of a text.
class StateParser {
 public:
  explicit StateParser(std::string_view text) : text_(text) {}

  bool AtEnd() const { return text_.empty(); }
  bool Parse(PackState* state);

 private:
  template <typename Number>
  bool TakeNumber(std::string_view* text, Number* number) {
    const std::string_view digits = TakeUntil(text, '\t');
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *number);
    return error == std::errc() && !digits.empty() && end == digits.data() + digits.size();
  }
  bool ParseInput(SplitState* split);
  bool ParseSplit(std::string_view line, PackState* state);

  std::string_view text_;
};

bool StateParser::ParseInput(SplitState* split) {
  std::string_view line = TakeUntil(&text_, '\n');
  InputState input;
  input.key = std::string(TakeUntil(&line, '\t'));
  if (!TakeNumber(&line, &input.image_bytes) || !TakeNumber(&line, &input.times.image_ns) ||
      !TakeNumber(&line, &input.label_bytes) || !TakeNumber(&line, &input.times.label_ns)) {
    return false;
  }
  split->inputs.push_back(std::move(input));
  return line.empty();
}

bool StateParser::ParseSplit(std::string_view line, PackState* state) {
  SplitState split;
  uint64_t inputs = 0;
  split.name = std::string(TakeUntil(&line, '\t'));
  if (!TakeNumber(&line, &inputs) || !TakeNumber(&line, &split.problems)) return false;
  for (uint64_t i = 0; i < inputs; ++i) {
    if (AtEnd() || !ParseInput(&split)) return false;
  }
  state->splits.push_back(std::move(split));
  return true;
}

bool StateParser::Parse(PackState* state) {
  if (TakeUntil(&text_, '\n') != kFirstLine) return false;
  const std::optional<Digest> id = DigestFromHex(TakeUntil(&text_, '\n'));
  if (!id.has_value()) return false;
  state->dataset_id = *id;
  while (!AtEnd()) {
    std::string_view line = TakeUntil(&text_, '\n');
    const std::string_view kind = TakeUntil(&line, '\t');
    if (kind == "setting") {
      const std::string_view name = TakeUntil(&line, '\t');
      state->settings.emplace_back(name, Unescape(line));
    } else if (kind != "split" || !ParseSplit(line, state)) {
      return false;
    }
  }
  return true;
}

// What stands before the line that holds the checksum of all before it, and takes `text` up to what
// stands behind; nothing when there is no such line.
std::string_view TakeChecked(std::string_view* text) {
  const size_t end_bytes = kEnd.size() + kSumDigits + 1;
  const std::string start = "\n" + std::string(kEnd);
  for (size_t at = text->find(start); at != std::string_view::npos;
       at = text->find(start, at + 1)) {
    const std::string_view end = text->substr(at + 1, end_bytes);
    if (end.size() < end_bytes || end.back() != '\n') continue;
    const std::string_view body = text->substr(0, at + 1);
    if (end.substr(kEnd.size(), kSumDigits) != SumOf(body)) continue;
    text->remove_prefix(at + 1 + end_bytes);
    return body;
  }
  return {};
}

// Gathers differences: so many are named, the rest counted.
class DifferenceList {
 public:
  void Add(const std::string& text) {
    if (count_++ < kDifferencesShown) lines_ += "\n  " + text;
  }
  std::string Take() const {
    if (count_ <= kDifferencesShown) return lines_;
    return lines_ + "\n  … and " + std::to_string(count_ - kDifferencesShown) + " more";
  }

 private:
  std::string lines_;
  uint64_t count_ = 0;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

void CompareSettings(const Settings& then, const Settings& now, DifferenceList* list) {
  auto value_in = [](const Settings& settings, const std::string& name) -> std::string {
    for (const auto& [each, value] : settings) {
      if (each == name) return value;
    }
    return "absent";
  };
  for (const auto& [name, value] : now) {
    const std::string old_value = value_in(then, name);
    if (old_value != value) list->Add(name + " was " + old_value + ", now it is " + value);
  }
  for (const auto& [name, value] : then) {
    if (value_in(now, name) == "absent") list->Add(name + " was " + value + ", now it is absent");
  }
}

void CompareInputs(const SplitState& then, const SplitState& now, DifferenceList* list) {
  std::unordered_map<std::string_view, const InputState*> old_inputs;
  for (const InputState& input : then.inputs) old_inputs[input.key] = &input;
  for (const InputState& input : now.inputs) {
    const auto found = old_inputs.find(input.key);
    if (found == old_inputs.end()) {
      list->Add(input.key + " is new");
      continue;
    }
    const InputState& old_input = *found->second;
    if (old_input.image_bytes != input.image_bytes) {
      list->Add(input.key + " had " + std::to_string(old_input.image_bytes) +
                " bytes, now it has " + std::to_string(input.image_bytes));
    }
    if (old_input.label_bytes != input.label_bytes) {
      list->Add("the label of " + input.key + " had " + std::to_string(old_input.label_bytes) +
                " bytes, now it has " + std::to_string(input.label_bytes));
    }
    old_inputs.erase(found);
  }
  for (const InputState& input : then.inputs) {
    if (old_inputs.count(input.key) > 0) list->Add(input.key + " is gone");
  }
  if (then.problems != now.problems) {
    list->Add("of split " + now.name + " " + std::to_string(then.problems) +
              " inputs could not be packed, now " + std::to_string(now.problems));
  }
}

// Of the label and of the file that its parts lie in, as one number: times are only compared.
int64_t LabelTime(const PackPlan& plan, const Sample& sample) {
  const std::vector<SourceFile>& files = plan.labels.parts_files;
  const int64_t label = sample.label.changed_ns;
  if (sample.label.path.empty() || sample.parts_file >= files.size()) return label;
  const int64_t times[] = {label, files[sample.parts_file].changed_ns};
  return static_cast<int64_t>(Checksum64(times, sizeof times));
}

}  // namespace

PackState MakePackState(const PackPlan& plan, const PackOptions& options) {
  PackState state;
  state.dataset_id = plan.dataset_id;
  state.settings.emplace_back("layout", plan.recipe.layout());
  state.settings.emplace_back("max-pixels", std::to_string(options.max_pixels));
  state.settings.emplace_back("version", plan.recipe.tool_version());
  for (const proto::Recipe::Option& option : plan.recipe.options()) {
    state.settings.emplace_back(option.name(), option.value());
  }
  std::sort(state.settings.begin(), state.settings.end());
  for (const SplitPlan& split : plan.splits) {
    SplitState& split_state = state.splits.emplace_back();
    split_state.name = split.name;
    split_state.problems = split.problems.size();
    for (const Sample& sample : split.samples) {
      split_state.inputs.push_back({sample.key,
                                    sample.image.bytes,
                                    sample.label.bytes,
                                    {sample.image.changed_ns, LabelTime(plan, sample)}});
    }
  }
  return state;
}

Status WritePackState(const std::string& folder, const PackState& state) {
  std::string text = std::string(kFirstLine) + "\n" + DigestToHex(state.dataset_id) + "\n";
  for (const auto& [name, value] : state.settings) {
    text += "setting\t" + name + '\t' + Escape(value) + '\n';
  }
  for (const SplitState& split : state.splits) {
    text += "split\t" + split.name + '\t' + std::to_string(split.inputs.size()) + '\t' +
            std::to_string(split.problems) + '\n';
    for (const InputState& input : split.inputs) AddInput(input, &text);
  }
  text += std::string(kEnd) + SumOf(text) + "\n";
  for (const auto& [file, shard] : state.shards) text += ShardLine(kKept, file, shard.digest);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(JoinPath(folder, kPackStateName)));
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  return file.Commit();
}

Status AddToPackState(const std::string& folder, const std::string& shard_file,
                      const Digest& digest) {
  const std::string path = JoinPath(folder, kPackStateName);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno == ENOENT ? OkStatus() : ErrnoError("cannot open " + path, errno);
  // In one call: lines of several processes are not mixed.
  const std::string line = ShardLine(kMade, shard_file, digest);
  size_t written = 0;
  Status status;
  while (status.ok() && written < line.size()) {
    const ssize_t count = ::write(file, line.data() + written, line.size() - written);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      status = ErrnoError("cannot write " + path, errno);
    }
  }
  // Not flushed: a power cut may cost the shards of the last seconds, which are then made again.
  ::close(file);
  return status;
}

Result<StoredState> ReadPackState(const std::string& folder) {
  const Result<std::string> text = ReadFile(JoinPath(folder, kPackStateName), kMaxStateBytes);
  StoredState stored;
  if (text.status().code() == StatusCode::kNotFound) return stored;
  RETURN_IF_ERROR(text.status());
  stored.exists = true;
  PackState state;
  std::string_view rest = *text;
  const std::string_view body = TakeChecked(&rest);
  if (body.empty() || !StateParser(body).Parse(&state)) return stored;
  while (!rest.empty()) ParseShardLine(TakeUntil(&rest, '\n'), &state);
  stored.state = std::move(state);
  return stored;
}

bool SameSet(const PackState& then, const PackState& now) {
  return then.dataset_id == now.dataset_id && then.settings == now.settings;
}

ShardChanges FindChanges(const PackPlan& plan, const PackState& then, const PackState& now) {
  ShardChanges changes;
  for (const PlannedShard& shard : plan.AllShards()) {
    const SplitPlan& split = plan.splits[shard.split];
    const std::vector<InputState>& before = then.splits[shard.split].inputs;
    const std::vector<InputState>& after = now.splits[shard.split].inputs;
    bool any = false;
    for (uint64_t i = split.ShardBegin(shard.number); i < split.ShardEnd(shard.number); ++i) {
      if (i < before.size() && before[i].key == after[i].key && before[i].times == after[i].times) {
        continue;
      }
      if (changes.inputs++ == 0) changes.first_key = after[i].key;
      any = true;
    }
    changes.shards.push_back(any);
  }
  return changes;
}

std::string DescribeDifference(const PackState& then, const PackState& now) {
  DifferenceList list;
  CompareSettings(then.settings, now.settings, &list);
  for (const SplitState& split : now.splits) {
    const auto old_split =
        std::find_if(then.splits.begin(), then.splits.end(),
                     [&](const SplitState& each) { return each.name == split.name; });
    if (old_split == then.splits.end()) {
      list.Add("split " + split.name + " is new");
    } else {
      CompareInputs(*old_split, split, &list);
    }
  }
  for (const SplitState& split : then.splits) {
    const bool there = std::any_of(now.splits.begin(), now.splits.end(),
                                   [&](const SplitState& each) { return each.name == split.name; });
    if (!there) list.Add("split " + split.name + " is gone");
  }
  const std::string differences = list.Take();
  return differences.empty()
             ? "\n  which label an image has, its class, or inputs that cannot be packed"
             : differences;
}

}  // namespace shardmill
