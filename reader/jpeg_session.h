// libjpeg's state of one file, and its errors as values.
//
// libjpeg is C: an error leaves by longjmp, past frames that must hold nothing to destroy. All
// calls that can fail run inside Fenced(). One object per file: libjpeg would keep the tables of
// the file before, and a file that lost its own would be decoded with them.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "reader/base/status.h"

namespace shardmill {

class JpegSession {
 public:
  JpegSession();
  ~JpegSession();
  JpegSession(const JpegSession&) = delete;
  JpegSession& operator=(const JpegSession&) = delete;

  // Reads the headers of `file`, which must outlive this object. First call; once.
  Status Start(std::string_view file);

  jpeg_decompress_struct* decoder() { return &decoder_; }

  // Runs `calls`, which may call libjpeg and must leave nothing to destroy. An error or a warning
  // ends it: DataLoss, InvalidArgument for files that libjpeg was not built for, or Io when there
  // is no memory.
  template <typename Calls>
  Status Fenced(const Calls& calls) {
    if (setjmp(errors_.jump) != 0) return Failure();
    calls();
    return OkStatus();
  }

  // The content of the first EXIF segment, from its TIFF header on; empty when there is none.
  // After Start().
  std::string_view Exif() const;

  // Surplus bytes between markers, so far, and behind the end marker, when that was reached.
  int64_t stray_bytes() const;

 private:
  struct Errors {
    jpeg_error_mgr manager;  // first: libjpeg knows only this part
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
    int64_t stray_bytes;
  };

  static void OnError(j_common_ptr decoder);
  static void OnMessage(j_common_ptr decoder, int level);
  static void OnProgress(j_common_ptr decoder);
  Status Failure() const;

  jpeg_decompress_struct decoder_;
  jpeg_progress_mgr progress_;
  Errors errors_;
};

}  // namespace shardmill
