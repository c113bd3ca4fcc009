// What the names of folders and files say they hold, beyond the exact names that layouts have.
//
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardmill {

// "masks", "label_images", "gt_image_2", "trainannot", "ground-truth"
bool NamesLabels(std::string_view name);
// "images_png", "rgb", "img_dir", unless the name names labels too.
bool NamesImages(std::string_view name);
// "training_set", "seg_test", "dev", "test1": a word of a split, alone or among others.
bool NamesASplit(std::string_view name);

// The name without the word of labels at its end or start, as "1" for "1_mask"; empty: it has none.
std::string WithoutLabelWord(std::string_view name);

}  // namespace shardmill
