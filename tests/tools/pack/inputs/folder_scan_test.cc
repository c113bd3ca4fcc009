#include "tools/pack/inputs/folder_scan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Paths(const FolderListing& listing) {
  std::vector<std::string> paths;
  for (const ListedFile& file : listing.files) paths.push_back(file.path);
  return paths;
}

TEST(FolderScan, FilesAreSortedByPath) {
  TestFolder folder("sorted");
  for (const char* path : {"b/2.png", "b/10.png", "a.png", "b.png", "b-c/1.png", "Z.png"}) {
    folder.Write(path, "xy");
  }
  Result<FolderListing> listing = ScanFolder(folder.path());
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(Paths(*listing), (std::vector<std::string>{"Z.png", "a.png", "b-c/1.png", "b.png",
                                                       "b/10.png", "b/2.png"}));
  EXPECT_EQ(listing->files[0].bytes, 2u);
  auto [begin, end] = listing->FilesBelow("b");
  EXPECT_EQ(begin, 4u);
  EXPECT_EQ(end, 6u);
  EXPECT_NE(listing->Find("b/2.png"), nullptr);
  EXPECT_EQ(listing->Find("b"), nullptr);
  EXPECT_TRUE(listing->HasFolder("b-c"));
  EXPECT_EQ(listing->FilesIn(""), (std::vector<std::string>{"Z.png", "a.png", "b.png"}));
  EXPECT_EQ(listing->FoldersIn(""), (std::vector<std::string>{"b", "b-c"}));
}

// As many as are asked for at once, and more.
TEST(FolderScan, ListingIsTheSameOnSeveralThreads) {
  TestFolder folder("threads");
  for (int i = 0; i < 2100; ++i) folder.Write("a/" + std::to_string(i), std::string(i % 5, 'x'));
  folder.Write("a/b/1", "");
  fs::create_symlink("nowhere", folder.At("a/dead"));
  const Result<FolderListing> one = ScanFolder(folder.path());
  const Result<FolderListing> three = ScanFolder(folder.path(), 3);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->files.size(), 2101u);
  EXPECT_EQ(Paths(*three), Paths(*one));
  EXPECT_EQ(three->folders, one->folders);
  EXPECT_EQ(three->notes, one->notes);
  EXPECT_EQ(three->unreadable.size(), 1u);
  for (size_t i = 0; i < one->files.size(); ++i) {
    ASSERT_EQ(three->files[i].bytes, one->files[i].bytes);
    ASSERT_EQ(three->files[i].changed_ns, one->files[i].changed_ns);
  }
}

TEST(FolderScan, ListedTimeIsThatOfTheLastChange) {
  TestFolder folder("time");
  folder.Write("a", "x");
  const timespec times[2] = {{1, 0}, {1234567890, 123}};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder.At("a").c_str(), times, 0), 0);
  EXPECT_EQ(ScanFolder(folder.path())->files[0].changed_ns, 1234567890000000123);
}

TEST(FolderScan, HiddenFilesAreCounted) {
  TestFolder folder("hidden");
  for (const char* path :
       {".DS_Store", "._img.png", "Thumbs.db", ".git/config", "__MACOSX/a.png", "img.png"}) {
    folder.Write(path, "");
  }
  Result<FolderListing> listing = ScanFolder(folder.path());
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(Paths(*listing), std::vector<std::string>{"img.png"});
  EXPECT_EQ(listing->hidden, 5u);
}

TEST(FolderScan, LinkLoopsAreNotFollowed) {
  TestFolder folder("loop");
  folder.Write("a/b/1.png", "");
  fs::create_symlink("../..", folder.At("a/b/up"));
  fs::create_symlink("nowhere", folder.At("dead"));
  fs::create_symlink("a/b/1.png", folder.At("good.png"));
  fs::create_symlink("self", folder.At("self"));
  Result<FolderListing> listing = ScanFolder(folder.path());
  ASSERT_TRUE(listing.ok()) << listing.status().ToString();
  EXPECT_EQ(Paths(*listing), (std::vector<std::string>{"a/b/1.png", "good.png"}));
  EXPECT_EQ(listing->notes.size(), 1u);
  ASSERT_EQ(listing->unreadable.size(), 2u);
  EXPECT_EQ(listing->unreadable[0].path, "dead");
  EXPECT_EQ(listing->unreadable[1].path, "self");
}

TEST(FolderScan, PipesAreLeftOut) {
  TestFolder folder("pipe");
  ASSERT_EQ(mkfifo(folder.At("pipe.png").c_str(), 0600), 0);
  Result<FolderListing> listing = ScanFolder(folder.path());
  ASSERT_TRUE(listing.ok());
  EXPECT_TRUE(listing->files.empty());
  ASSERT_EQ(listing->unreadable.size(), 1u);
  EXPECT_EQ(listing->unreadable[0].reason, "it is neither a file nor a folder");
}

TEST(FolderScan, MissingFolderAndFile) {
  TestFolder folder("missing");
  folder.Write("file", "");
  EXPECT_EQ(ScanFolder(folder.At("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ScanFolder(folder.At("file")).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
