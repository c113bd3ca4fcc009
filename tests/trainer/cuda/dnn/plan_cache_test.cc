#include "trainer/cuda/dnn/plan_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

const PlanKey kKey = {"NVIDIA H200, sm_90, 132 multiprocessors", "cuDNN 9.19.0", "to_small:f32"};

std::string PathOf(const std::string& name) {
  const std::string path = JoinPath(testing::TempDir(), name);
  std::remove(path.c_str());
  return path;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  auto file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append(bytes.data(), bytes.size()).ok());
  ASSERT_TRUE(file->Commit().ok());
}

// The cache of a file that is taken or that is empty.
PlanCache Opened(const std::string& path) {
  std::string note;
  auto cache = PlanCache::Open(path, &note);
  SHARDMILL_CHECK(cache.ok());
  EXPECT_EQ(note, "");
  return std::move(*cache);
}

PlanKey ProblemKey(const std::string& problem) {
  PlanKey key = kKey;
  key.problem = problem;
  return key;
}

std::string SavedCache(const std::string& path) {
  PlanCache cache = Opened(path);
  cache.Put(kKey, {"{\"plan\": 1}", 4096});
  cache.Put(ProblemKey("to_small:f32:bias"), {});
  EXPECT_TRUE(cache.Save().ok());
  return *ReadFile(path, 1 << 20);
}

TEST(PlanCache, SavedEntriesAreFoundAgain) {
  const std::string path = PathOf("round.plans");
  SavedCache(path);
  const PlanCache cache = Opened(path);
  EXPECT_EQ(cache.size(), 2);
  ASSERT_NE(cache.Find(kKey), nullptr);
  EXPECT_EQ(cache.Find(kKey)->json, "{\"plan\": 1}");
  EXPECT_EQ(cache.Find(kKey)->workspace_bytes, 4096);
  PlanKey other = kKey;
  other.library = "cuDNN 9.18.0";
  EXPECT_EQ(cache.Find(other), nullptr);
  other = kKey;
  other.device = "NVIDIA A100, sm_80, 108 multiprocessors";
  EXPECT_EQ(cache.Find(other), nullptr);
}

TEST(PlanCache, MissingOrEmptyFileIsEmptyWithoutANote) {
  const std::string path = PathOf("none.plans");
  EXPECT_EQ(Opened(path).size(), 0);
  WriteFile(path, "");
  EXPECT_EQ(Opened(path).size(), 0);
}

// The first eight bytes tell a file of plans from one of somebody else.
TEST(PlanCache, AnyDamageIsNotedAndTheCacheEmptyOrTheFileRefused) {
  const std::string path = PathOf("damaged.plans");
  const std::string sound = SavedCache(path);
  for (size_t i = 0; i <= sound.size(); ++i) {
    std::string damaged = sound;
    if (i < sound.size()) {
      damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    } else {
      damaged.pop_back();
    }
    WriteFile(path, damaged);
    std::string note;
    const auto cache = PlanCache::Open(path, &note);
    EXPECT_EQ(cache.ok(), i >= 8) << "byte " << i;
    if (!cache.ok()) note = cache.status().message();
    if (cache.ok()) EXPECT_EQ(cache->size(), 0) << "byte " << i;
    EXPECT_NE(note.find(path), std::string::npos) << "byte " << i;
  }
}

TEST(PlanCache, ForeignFileIsRefusedAndStays) {
  const std::string path = PathOf("foreign.plans");
  const std::string text = "a text of somebody else, long enough for a header";
  WriteFile(path, text);
  std::string note;
  const Status status = PlanCache::Open(path, &note).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("no file of plans"), std::string::npos) << status.message();
  // Nor is it replaced when it comes while the plans are made.
  std::remove(path.c_str());
  PlanCache cache = Opened(path);
  cache.Put(kKey, {"{}", 0});
  WriteFile(path, text);
  EXPECT_EQ(cache.Save().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*ReadFile(path, 1 << 20), text);
}

TEST(PlanCache, FileOfAnotherVersionIsMadeAnew) {
  const std::string path = PathOf("version.plans");
  std::string file = SavedCache(path);
  file[8] = 9;
  file.resize(file.size() - 8);
  uint8_t checksum[8];
  StoreU64(Checksum64(file.data(), file.size()), checksum);
  file.append(reinterpret_cast<const char*>(checksum), 8);
  WriteFile(path, file);
  std::string note;
  auto cache = PlanCache::Open(path, &note);
  ASSERT_TRUE(cache.ok());
  EXPECT_NE(note.find("format version 9"), std::string::npos) << note;
  cache->Put(kKey, {"{}", 0});
  ASSERT_TRUE(cache->Save().ok());
  EXPECT_EQ(Opened(path).size(), 1);
}

TEST(PlanCache, PlansOfTwoProcessesAreBothKept) {
  const std::string path = PathOf("two.plans");
  PlanCache first = Opened(path), second = Opened(path);
  first.Put(ProblemKey("a"), {"{}", 1});
  second.Put(ProblemKey("b"), {"{}", 2});
  ASSERT_TRUE(first.Save().ok());
  ASSERT_TRUE(second.Save().ok());
  const PlanCache both = Opened(path);
  EXPECT_EQ(both.size(), 2);
  ASSERT_NE(both.Find(ProblemKey("a")), nullptr);
  EXPECT_EQ(both.Find(ProblemKey("a"))->workspace_bytes, 1);
}

TEST(PlanCache, ProcessesThatSaveAtOnceLoseNothing) {
  const std::string path = PathOf("many.plans");
  constexpr int kProcesses = 4, kPlans = 8;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    std::string note;
    auto cache = PlanCache::Open(path, &note);
    bool saved = cache.ok() && note.empty();
    for (int plan = 0; saved && plan < kPlans; ++plan) {
      cache->Put(ProblemKey(std::to_string(process) + ":" + std::to_string(plan)), {"{}", plan});
      saved = cache->Save().ok();
    }
    _exit(saved ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Opened(path).size(), kProcesses * kPlans);
  EXPECT_NE(access((path + ".lock").c_str(), F_OK), 0);
}

TEST(PlanCache, OlderLibraryOfAnotherProcessStaysReplaced) {
  const std::string path = PathOf("older.plans");
  PlanCache first = Opened(path), second = Opened(path);
  first.Put(kKey, {"{}", 1});
  ASSERT_TRUE(first.Save().ok());
  PlanKey newer = kKey;
  newer.library = "cuDNN 9.20.0";
  second.Put(newer, {"{}", 2});
  ASSERT_TRUE(second.Save().ok());
  const PlanCache both = Opened(path);
  EXPECT_EQ(both.size(), 1);
  EXPECT_NE(both.Find(newer), nullptr);
}

TEST(PlanCache, NewLibraryReplacesTheEntriesOfTheOldOneOnThatDeviceOnly) {
  PlanCache cache;
  PlanKey other_device = kKey;
  other_device.device = "NVIDIA A100, sm_80, 108 multiprocessors";
  cache.Put(kKey, {"{}", 0});
  cache.Put(other_device, {"{}", 0});
  PlanKey newer = kKey;
  newer.library = "cuDNN 9.20.0";
  cache.Put(newer, {"{}", 0});
  EXPECT_EQ(cache.Find(kKey), nullptr);
  EXPECT_NE(cache.Find(other_device), nullptr);
  EXPECT_NE(cache.Find(newer), nullptr);
}

TEST(PlanCache, DroppedEntryLeavesTheFileAndMayComeBack) {
  const std::string path = PathOf("dropped.plans");
  SavedCache(path);
  PlanCache cache = Opened(path);
  cache.Drop(kKey);
  EXPECT_EQ(cache.Find(kKey), nullptr);
  ASSERT_TRUE(cache.Save().ok());
  EXPECT_EQ(Opened(path).Find(kKey), nullptr);
  EXPECT_EQ(Opened(path).size(), 1);
  cache.Put(kKey, {"{}", 3});
  ASSERT_TRUE(cache.Save().ok());
  ASSERT_NE(Opened(path).Find(kKey), nullptr);
  EXPECT_EQ(Opened(path).Find(kKey)->workspace_bytes, 3);
}

TEST(PlanCache, FolderThatIsNotThereIsAnError) {
  PlanCache cache = Opened(PathOf("nowhere") + "/x.plans");
  cache.Put(kKey, {"{}", 0});
  EXPECT_FALSE(cache.Save().ok());
}

// A file that another process keeps locked would hold up each convolution.
TEST(PlanCache, FileThatCouldNotBeWrittenIsNotTriedAgain) {
  const std::string folder = PathOf("later"), path = folder + "/x.plans";
  rmdir(folder.c_str());
  PlanCache cache = Opened(path);
  cache.Put(kKey, {"{}", 0});
  EXPECT_FALSE(cache.Save().ok());
  ASSERT_EQ(mkdir(folder.c_str(), 0777), 0);
  cache.Put(ProblemKey("b"), {"{}", 0});
  EXPECT_TRUE(cache.Save().ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_NE(cache.Find(kKey), nullptr);
  EXPECT_NE(cache.Find(ProblemKey("b")), nullptr);
}

}  // namespace
}  // namespace shardmill
