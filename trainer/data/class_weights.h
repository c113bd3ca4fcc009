// Weights of classes in the loss, from the statistics that the packer stored.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

// One weight per class, in the order of the class ids. `choice` is one of
//   none     1 for every class
//   median   median of the class frequencies / frequency of the class, where the frequency is its
//            pixels / labelled pixels of the images that show it (Eigen and Fergus, 2015)
//   enet     1 / ln(1.02 + share), share of all labelled pixels, ignored ones left out
//            (Paszke et al., 2016)
//   a file   one line "CLASS,WEIGHT" for each class, by name, or by id where no class has the
//            word as its name; blank lines and lines that start with # are skipped
// A class that never occurs weighs 0 with median. InvalidArgument says what is wrong with the
// statistics or with which line of the file; NotFound when there is neither such a rule nor file.
Result<std::vector<float>> ClassWeights(const std::string& choice,
                                        const std::vector<ClassInfo>& classes,
                                        const proto::Statistics& statistics);

// What a user should know of classes of which the split has no label: the network cannot learn
// them. Empty where there are none, or where the statistics do not say.
std::string AbsentClassesNotice(const std::vector<ClassInfo>& classes,
                                const proto::Statistics& statistics);

}  // namespace shardmill
