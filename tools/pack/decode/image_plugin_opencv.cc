// The plug-in: decodes image files through OpenCV. See image_plugin.h for the interface.
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <new>

#include "opencv2/core.hpp"
#include "opencv2/core/utils/logger.hpp"
#include "opencv2/imgcodecs.hpp"
#include "opencv2/imgproc.hpp"
#include "tools/pack/decode/image_plugin.h"

namespace {

using shardmill::SHARDMILL_PLUGIN_BAD_FILE;
using shardmill::SHARDMILL_PLUGIN_DECODED;
using shardmill::SHARDMILL_PLUGIN_OUT_OF_MEMORY;
using shardmill::ShardmillPluginImage;

int Fail(ShardmillPluginImage* image, const char* reason) {
  std::snprintf(image->message, sizeof image->message, "%s", reason);
  return SHARDMILL_PLUGIN_BAD_FILE;
}

int FailForMemory(ShardmillPluginImage* image, const char* reason) {
  Fail(image, reason);
  return SHARDMILL_PLUGIN_OUT_OF_MEMORY;
}

int Deliver(const cv::Mat& decoded, ShardmillPluginImage* image) {
  if (decoded.empty())
    return Fail(image, "damaged or cut image, or a kind of it that is not known");
  const int depth = decoded.depth(), channels = decoded.channels();
  if (depth != CV_8U && depth != CV_16U) return Fail(image, "samples are not of 8 or 16 bits");
  if (channels != 1 && channels != 3 && channels != 4) {
    return Fail(image, "the image has neither 1 nor 3 nor 4 channels");
  }
  if (static_cast<uint64_t>(decoded.rows) * static_cast<uint64_t>(decoded.cols) >
      image->max_pixels) {
    return Fail(image, "more pixels than --max-pixels");
  }
  image->height = static_cast<uint32_t>(decoded.rows);
  image->width = static_cast<uint32_t>(decoded.cols);
  image->channels = static_cast<uint32_t>(channels);
  image->sample_bytes = depth == CV_8U ? 1 : 2;
  void* samples = image->allocate(image);
  if (samples == nullptr) return FailForMemory(image, "no memory for the image");
  cv::Mat out(decoded.rows, decoded.cols, decoded.type(), samples);
  if (channels == 1) decoded.copyTo(out);
  if (channels == 3) cv::cvtColor(decoded, out, cv::COLOR_BGR2RGB);
  if (channels == 4) cv::cvtColor(decoded, out, cv::COLOR_BGRA2RGBA);
  return SHARDMILL_PLUGIN_DECODED;
}

}  // namespace

extern "C" int ShardmillImagePluginVersion() {
  // The packer's own threads decode one image each.
  cv::setNumThreads(1);
  // The packer names the file and the reason itself, through stdio: what OpenCV logs, and what it
  // writes to std::cerr past its log, would stand before that.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  std::cerr.setstate(std::ios_base::badbit);
  return SHARDMILL_IMAGE_PLUGIN_VERSION;
}

extern "C" int ShardmillImagePluginDecode(const void* file, uint64_t bytes,
                                          ShardmillPluginImage* image) {
  try {
    if (bytes == 0 || bytes > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return Fail(image, "the file is empty or larger than 2 GiB");
    }
    const cv::Mat input(1, static_cast<int>(bytes), CV_8U, const_cast<void*>(file));
    return Deliver(cv::imdecode(input, cv::IMREAD_UNCHANGED), image);
  } catch (const std::bad_alloc& exception) {
    return FailForMemory(image, exception.what());
  } catch (const cv::Exception& exception) {
    return exception.code == cv::Error::StsNoMem ? FailForMemory(image, exception.what())
                                                 : Fail(image, exception.what());
  } catch (const std::exception& exception) {
    return Fail(image, exception.what());
  }
}
