// A pack with --overwrite that is stopped before any of the steps that change a name in the
// folder, and what then enters the folder: a set, the old or the new one, is always left whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>

#include "proto/manifest.pb.h"
#include "reader/manifest.h"
#include "reader/unfinished_pack.h"
#include "reader/verify.h"
#include "tests/tools/pack/image_files.h"
#include "tools/manifest_repair.h"
#include "tools/pack/pack_job.h"

namespace {

constexpr int kStopped = 77;
// How many steps a process still makes before it stops; below 0: it does not stop.
std::atomic<int> steps_left{-1};

void CountStep() {
  if (steps_left.load() < 0) return;
  if (steps_left.fetch_sub(1) == 0) _exit(kStopped);
}

int Returned(long result) { return static_cast<int>(result); }

}  // namespace

// These take the place of the C library's in this program.
extern "C" __attribute__((visibility("default"))) int rename(const char* from, const char* to) {
  CountStep();
  return Returned(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" __attribute__((visibility("default"))) int unlink(const char* path) noexcept {
  CountStep();
  return Returned(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
extern "C" __attribute__((visibility("default"))) int unlinkat(int folder, const char* path,
                                                               int flags) noexcept {
  CountStep();
  return Returned(syscall(SYS_unlinkat, folder, path, flags));
}

namespace shardmill {
namespace {

namespace fs = std::filesystem;

class OverwriteCutTest : public testing::Test {
 protected:
  OverwriteCutTest()
      : source_(Name() + "-source"),
        old_(Name() + "-old"),
        new_(Name() + "-new"),
        start_(Name() + "-start"),
        out_(Name() + "-out") {
    for (uint64_t i = 0; i < 3; ++i) {
      const std::string image = Png(Photo({8, 8}, i));
      source_.Write(Input(i), image);
    }
    options_.source = source_.path();
    options_.quiet = true;
    options_.jobs = 1;
    options_.shard_bytes = 8 * 8 * 3 + 1;
    EXPECT_TRUE(Pack(old_).ok());
    options_.crop = ImageSize{4, 4};
    options_.shard_bytes = 4 * 4 * 3 + 1;
    EXPECT_TRUE(Pack(new_).ok());
    options_.overwrite = true;
    fs::remove_all(start_.path());
    fs::copy(old_.path(), start_.path());
    // The shards of the new set are made; all that is left is to take the old one's place.
    options_.slice = ShardSlice{0, 2};
    EXPECT_TRUE(Pack(start_).ok());
    options_.slice.reset();
  }
  static std::string Name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string Input(uint64_t i) {
    return (i < 2 ? "train/" : "val/") + std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) +
           ".png";
  }

  Result<int> Pack(const TestFolder& output) {
    options_.output = output.path();
    testing::internal::CaptureStdout();
    Result<int> result = RunPackJob(options_, ReportStyle::kText);
    testing::internal::GetCapturedStdout();
    return result;
  }

  // Lets the pack make `steps` steps. False: it needs no more.
  bool IsStoppedAfter(int steps) {
    fs::remove_all(out_.path());
    fs::copy(start_.path(), out_.path(), fs::copy_options::recursive);
    const pid_t child = fork();
    if (child == 0) {
      steps_left = steps;
      _exit(Pack(out_).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kStopped) << status;
    return WEXITSTATUS(status) == kStopped;
  }
  // Calls `enter` for each moment at which the pack can be stopped.
  void AtEachStep(const std::function<void()>& enter) {
    int steps = 0;
    for (; IsStoppedAfter(steps); ++steps) {
      SCOPED_TRACE("stopped after " + std::to_string(steps) + " steps");
      enter();
      if (HasFailure()) return;
    }
    // 3 old shards and a manifest go, 3 new ones and a manifest come, and the mark between them.
    EXPECT_GE(steps, 9);
  }

  static std::map<std::string, std::string> Contents(const TestFolder& folder) {
    std::map<std::string, std::string> contents;
    for (const std::string& file : folder.Files()) contents[file] = folder.Read(file);
    contents.erase("pack-report.html");
    contents.erase(".shardmill-lock");
    return contents;
  }
  std::string DigestIn(const TestFolder& folder) {
    const Result<proto::Manifest> manifest = ReadManifest(folder.path());
    return manifest.ok() ? manifest->digest() : manifest.status().ToString();
  }
  bool IsSound() {
    const Result<VerifyReport> report = Verify(out_.path(), VerifyOptions());
    return report.ok() && report->sound();
  }
  void ExpectOldOrNewSet() {
    EXPECT_TRUE(IsSound());
    const std::string digest = DigestIn(out_);
    EXPECT_TRUE(digest == DigestIn(old_) || digest == DigestIn(new_)) << digest;
  }

  TestFolder source_, old_, new_, start_, out_;
  PackOptions options_;
};

TEST_F(OverwriteCutTest, OtherCommandThatFailsLosesNothing) {
  const std::string image = source_.Read(Input(1));
  AtEachStep([&] {
    options_.crop = ImageSize{5, 5};
    options_.overwrite = false;
    EXPECT_EQ(Pack(out_).status().code(), StatusCode::kInvalidArgument);
    options_.overwrite = true;
    ExpectOldOrNewSet();
    source_.Write(Input(1), image.substr(0, 60));
    EXPECT_EQ(Pack(out_).status().code(), StatusCode::kDataLoss);
    source_.Write(Input(1), image);
    options_.crop = ImageSize{4, 4};
    ExpectOldOrNewSet();
  });
}

// The state that was stored is of the same set: only the times tell that an input is another.
TEST_F(OverwriteCutTest, SameCommandThatFailsOnAChangedInputLosesNothing) {
  const std::string image = source_.Read(Input(1));
  const auto time = fs::last_write_time(source_.At(Input(1)));
  AtEachStep([&] {
    source_.Write(Input(1), image.substr(0, 60) + std::string(image.size() - 60, 'x'));
    fs::last_write_time(source_.At(Input(1)), time + std::chrono::seconds(1));
    EXPECT_EQ(Pack(out_).status().code(), StatusCode::kDataLoss);
    source_.Write(Input(1), image);
    fs::last_write_time(source_.At(Input(1)), time);
    ExpectOldOrNewSet();
  });
}

TEST_F(OverwriteCutTest, RebuildingIsRefusedAndTheSameCommandMakesTheNewSet) {
  AtEachStep([&] {
    const auto before = Contents(out_);
    const Result<ManifestRepair> repair = RepairManifest(out_.path());
    EXPECT_EQ(Contents(out_), before);  // refused, or nothing was to be done
    if (repair.ok()) {
      EXPECT_TRUE(repair->agreed);
      ExpectOldOrNewSet();
    } else {
      EXPECT_NE(FindUnfinishedPack(out_.path()).description, "") << repair.status().ToString();
      EXPECT_EQ(repair.status().code(), StatusCode::kInvalidArgument);
    }
    const Result<int> result = Pack(out_);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(Contents(out_), Contents(new_));
  });
}

TEST_F(OverwriteCutTest, NewSetThatIsNotWholeDoesNotReplaceTheOldOne) {
  fs::remove_all(out_.path());
  fs::copy(start_.path(), out_.path(), fs::copy_options::recursive);
  const std::string incoming = ".shardmill-incoming/";
  fs::copy_file(new_.At("manifest.json"), out_.At(incoming + "manifest.json"));
  const std::string shard = incoming + "train-00001-of-00002.shard";
  out_.Write(shard, out_.Read(shard).substr(0, 4096));
  const Status status = Pack(out_).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
  EXPECT_NE(status.message().find("move that folder away"), std::string::npos) << status.message();
  EXPECT_TRUE(IsSound());
  EXPECT_EQ(DigestIn(out_), DigestIn(old_));
}

// What a repair that was killed left.
TEST_F(OverwriteCutTest, RebuildingRemovesTheRemnantOfAnotherOne) {
  const auto before = Contents(new_);
  new_.Write("manifest.json.tmp-77", "cut");
  new_.Write("manifest.json.tmp-notes", "of somebody");
  ASSERT_TRUE(fs::remove(new_.At("manifest.json")));
  ASSERT_TRUE(RepairManifest(new_.path()).ok());
  ASSERT_TRUE(fs::remove(new_.At("manifest.json.tmp-notes")));
  EXPECT_EQ(Contents(new_), before);
  new_.Write("manifest.json.tmp-77", "cut");
  EXPECT_TRUE(RepairManifest(new_.path())->agreed);
  EXPECT_EQ(Contents(new_), before);
}

TEST_F(OverwriteCutTest, SoundManifestIsNotReplacedWhenAShardHasAnotherDigest) {
  proto::Manifest manifest = *ReadManifest(new_.path());
  const std::string digest(32, '0');
  manifest.mutable_splits(0)->mutable_shards(1)->set_digest(digest);
  ASSERT_TRUE(WriteManifest(new_.path(), manifest).ok());
  const auto before = Contents(new_);
  const Status status = RepairManifest(new_.path()).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
  EXPECT_NE(status.message().find("train-00001-of-00002.shard has digest "), std::string::npos);
  EXPECT_NE(status.message().find(", the manifest says " + digest), std::string::npos);
  EXPECT_EQ(Contents(new_), before);
}

}  // namespace
}  // namespace shardmill
