// The statistics of one record: sums for mean, deviation and class shares. Padding is not
// counted. reader/statistics.h adds records up.
//
// Stateless; safe for concurrent use on different messages.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

// Sets the sums of the three channels over the region, or over a run of pixels in each row.
void MeasureImage(const RgbImage& image, const Region& region, proto::Statistics* statistics);
void MeasureImage(const RgbImage& image, const std::vector<PixelSpan>& rows,
                  proto::Statistics* statistics);

// Sets the pixels per class over the same. Ids below `classes` count as classes, others as
// ignore.
void MeasureLabels(const ClassIdMap& labels, const Region& region, uint32_t classes,
                   proto::Statistics* statistics);
void MeasureLabels(const ClassIdMap& labels, const std::vector<PixelSpan>& rows, uint32_t classes,
                   proto::Statistics* statistics);

// Sets the counts of an image that has one class as a whole.
void MeasureClassId(uint32_t class_id, uint32_t classes, proto::Statistics* statistics);

}  // namespace shardmill
