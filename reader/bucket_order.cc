#include "reader/bucket_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace shardmill {

BucketOrder::BucketOrder(std::unique_ptr<RecordOrder> order, LengthOf length_of, Options options)
    : order_(std::move(order)),
      length_of_(std::move(length_of)),
      options_(std::move(options)),
      whole_(order_->length() / options_.global_batch * options_.global_batch) {}

void BucketOrder::StartEpoch(uint64_t epoch) {
  order_->StartEpoch(epoch);
  key_ = MakeOrderKey(options_.seed, epoch, options_.split, "buckets");
  for (Window& window : windows_) window.number = std::numeric_limits<uint64_t>::max();
}

// Leaves the entries of the window in plain_ sorted by length, and by place within each batch.
Status BucketOrder::SortByLength(uint64_t count) {
  entries_.resize(count);
  for (uint64_t place = 0; place < count; ++place) {
    entries_[place].place = place;
    RETURN_IF_ERROR(length_of_(plain_[place], &entries_[place].length));
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.length, a.place) < std::tie(b.length, b.place);
  });
  for (uint64_t first = 0; first < count; first += options_.global_batch) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(options_.global_batch),
              [](const Entry& a, const Entry& b) { return a.place < b.place; });
  }
  return OkStatus();
}

Status BucketOrder::Load(uint64_t number, Window* window) {
  const uint64_t batch = options_.global_batch;
  const uint64_t first = number * options_.window_batches * batch;
  const uint64_t count = std::min(options_.window_batches * batch, whole_ - first);
  window->number = std::numeric_limits<uint64_t>::max();  // until it is complete
  plain_.resize(count);
  RETURN_IF_ERROR(order_->Fill(first, count, plain_.data()));
  RETURN_IF_ERROR(SortByLength(count));
  batches_.Reset(count / batch, DeriveKey(key_, number));
  window->records.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t sorted = batches_.At(i / batch) * batch + i % batch;
    window->records[i] = plain_[entries_[sorted].place];
  }
  window->number = number;
  return OkStatus();
}

Status BucketOrder::Fill(uint64_t first, uint64_t count, uint64_t* out) {
  const uint64_t window_records = options_.window_batches * options_.global_batch;
  while (count > 0 && first < whole_) {
    const uint64_t number = first / window_records;
    Window& window = windows_[number % windows_.size()];
    if (window.number != number) RETURN_IF_ERROR(Load(number, &window));
    const uint64_t begin = first % window_records;
    const uint64_t part = std::min<uint64_t>(count, window.records.size() - begin);
    std::copy_n(window.records.begin() + static_cast<std::ptrdiff_t>(begin), part, out);
    first += part;
    count -= part;
    out += part;
  }
  return count == 0 ? OkStatus() : order_->Fill(first, count, out);
}

}  // namespace shardmill
