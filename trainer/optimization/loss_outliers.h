// Finds losses that stand out from those of the steps before.
//
// Mean and variance of the losses, the newer steps counting more, are kept in the progress of the
// run, so that a run that is resumed goes on like one that was not. Not for concurrent use.
#pragma once

#include <optional>

namespace shardmill {

namespace proto {
class Progress;
}  // namespace proto

class LossOutliers {
 public:
  // `limit`: from how many standard deviations above the mean on a loss stands out; 0: none does.
  // `progress` must outlive the object.
  LossOutliers(double limit, proto::Progress* progress) : limit_(limit), progress_(*progress) {}

  // Takes the loss of the next step; by how many standard deviations it is above the mean of the
  // steps before when it stands out. The first steps only make the mean.
  std::optional<double> Add(double loss);
  double mean() const;  // of the steps so far

 private:
  const double limit_;
  proto::Progress& progress_;
};

}  // namespace shardmill
