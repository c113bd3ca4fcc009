#include "trainer/cuda/dnn/plan_cache.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "reader/base/file.h"

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

std::string SavedCache(const std::string& path) {
  std::string note;
  PlanCache cache = PlanCache::Open(path, &note);
  cache.Put(kKey, {"{\"plan\": 1}", 4096});
  PlanKey none = kKey;
  none.problem = "to_small:f32:bias";
  cache.Put(none, {});
  EXPECT_TRUE(cache.Save().ok());
  return *ReadFile(path, 1 << 20);
}

TEST(PlanCache, SavedEntriesAreFoundAgain) {
  const std::string path = PathOf("round.plans");
  SavedCache(path);
  std::string note;
  const PlanCache cache = PlanCache::Open(path, &note);
  EXPECT_EQ(note, "");
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

TEST(PlanCache, MissingFileIsEmptyWithoutANote) {
  std::string note;
  EXPECT_EQ(PlanCache::Open(PathOf("none.plans"), &note).size(), 0);
  EXPECT_EQ(note, "");
}

TEST(PlanCache, AnyDamageIsNotedAndTheCacheEmpty) {
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
    EXPECT_EQ(PlanCache::Open(path, &note).size(), 0) << "byte " << i;
    EXPECT_NE(note.find(path), std::string::npos) << "byte " << i;
  }
}

TEST(PlanCache, ForeignFileIsNotedAndReplaced) {
  const std::string path = PathOf("foreign.plans");
  WriteFile(path, "a text of somebody else, long enough for a header");
  std::string note;
  PlanCache cache = PlanCache::Open(path, &note);
  EXPECT_NE(note.find("no file of plans"), std::string::npos) << note;
  cache.Put(kKey, {"{}", 0});
  ASSERT_TRUE(cache.Save().ok());
  note.clear();
  EXPECT_EQ(PlanCache::Open(path, &note).size(), 1);
  EXPECT_EQ(note, "");
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

TEST(PlanCache, FolderThatIsNotThereIsAnError) {
  std::string note;
  PlanCache cache = PlanCache::Open(PathOf("nowhere") + "/x.plans", &note);
  cache.Put(kKey, {"{}", 0});
  EXPECT_FALSE(cache.Save().ok());
}

}  // namespace
}  // namespace shardmill
