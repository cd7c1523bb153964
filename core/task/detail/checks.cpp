// SPDX-License-Identifier: MIT
// What fields say together: model and data, schedules, file lists.
#include <algorithm>
#include <set>

#include "core/base/text.hpp"
#include "core/task/detail/parsing.hpp"

namespace waggle::task::detail {
namespace {

// A larger model is refused before anything is allocated for it.
constexpr double kMaxParameters = 2e10;
constexpr std::size_t kMaxFileName = 200;
constexpr std::size_t kMaxLabel = 60;

class Checker {
 public:
  Checker(Definition const& definition, Places const& places)
      : definition_(definition), places_(places) {}

  Status across() const {
    auto const& d = definition_;
    if (!valid_prefix(d.prefix))
      return places_.error(
          "task", "prefix", cat("expected [a-z0-9][a-z0-9_-]{0,63}, found ", shown(d.prefix)));
    WAGGLE_TRY_STATUS(model());
    WAGGLE_TRY_STATUS(files());
    WAGGLE_TRY_STATUS(labels());
    auto const& t = d.train;
    if (t.nesterov && t.momentum == 0)
      return places_.error(
          "train", "nesterov", "expected momentum above 0 beside it, found momentum = 0");
    if ((t.schedule == "cosine" || t.schedule == "linear") && t.total_epochs == 0)
      return places_.error(
          "train",
          "schedule",
          cat("expected total_epochs above 0 beside \"", t.schedule, "\", found ", t.total_epochs));
    if (t.schedule == "step" && t.step_every == 0)
      return places_.error("train", "schedule", "expected step_every beside \"step\", found none");
    if (t.total_epochs > 0 && t.warmup_epochs >= t.total_epochs)
      return places_.error(
          "train",
          "warmup_epochs",
          cat("expected less than total_epochs (", t.total_epochs, "), found ", t.warmup_epochs));
    if (t.micro_batch > d.swarm.target_batch_size)
      return places_.error("train",
                           "micro_batch",
                           cat("expected at most swarm.target_batch_size (",
                               d.swarm.target_batch_size,
                               "), found ",
                               t.micro_batch));
    return ok();
  }

 private:
  Status model() const {
    auto const& m = definition_.model;
    bool const images = m.family == "resnet";
    if (images != (definition_.data.format == "idx-images"))
      return places_.error("data",
                           "format",
                           cat("expected ",
                               images ? "idx-images" : "text",
                               " for family ",
                               m.family,
                               ", found ",
                               definition_.data.format));
    if (!images) {
      if (m.embedding % m.heads != 0)
        return places_.error(
            "model",
            "heads",
            cat("expected a divisor of embedding (", m.embedding, "), found ", m.heads));
      auto const e = static_cast<double>(m.embedding);
      double const parameters = 12 * static_cast<double>(m.layers) * e * e +
                                e * static_cast<double>(m.vocabulary + m.context);
      if (parameters > kMaxParameters)
        return places_.error(
            "model",
            "embedding",
            cat("expected a model of at most ", kMaxParameters, " parameters, found ", parameters));
      return ok();
    }
    for (auto const* name : {"mean", "std"}) {
      auto const& values = name[0] == 'm' ? definition_.data.mean : definition_.data.std;
      if (!values.empty() && static_cast<std::int64_t>(values.size()) != m.in_channels)
        return places_.error("data",
                             name,
                             cat("expected one number a channel (model.in_channels is ",
                                 m.in_channels,
                                 "), found ",
                                 values.size()));
    }
    for (double const value : definition_.data.std)
      if (!(value > 0))
        return places_.error("data", "std", cat("expected numbers above 0, found ", value));
    return ok();
  }

  Status labels() const {
    auto const& labels = definition_.data.labels;
    if (labels.empty()) return ok();
    if (static_cast<std::int64_t>(labels.size()) != definition_.model.classes)
      return places_.error("data",
                           "labels",
                           cat("expected one name a class (model.classes is ",
                               definition_.model.classes,
                               "), found ",
                               labels.size()));
    for (auto const& label : labels) {
      bool const plain = !label.empty() && label.size() <= kMaxLabel &&
                         std::none_of(label.begin(), label.end(), [](char c) {
                           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                         });
      if (!plain)
        return places_.error(
            "data",
            "labels",
            cat("expected names of 1 to ", kMaxLabel, " bytes, found ", shown(label)));
    }
    return ok();
  }

  Status files() const {
    auto const& d = definition_.data;
    if (d.format == "idx-images") {
      if (d.train.size() != 2)
        return places_.error(
            "data",
            "train",
            cat("expected an images file and a labels file, found ", d.train.size()));
      if (d.test.size() != 2)
        return places_.error(
            "data",
            "test",
            cat("expected an images file and a labels file, found ", d.test.size()));
    }
    std::set<std::string_view> seen;
    for (auto const* list : {&d.train, &d.test}) {
      auto const* name = list == &d.train ? "train" : "test";
      for (auto const& file : *list) {
        bool const plain =
            !file.empty() && file.size() <= kMaxFileName && file.front() != '.' &&
            std::none_of(file.begin(), file.end(), [](char c) {
              return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
            });
        if (!plain)
          return places_.error(
              "data",
              name,
              cat("expected a plain file name (no folder, no leading dot), found ", shown(file)));
        if (!seen.insert(file).second)
          return places_.error(
              "data", name, cat("expected each file once, found ", shown(file), " again"));
      }
    }
    return ok();
  }

  Definition const& definition_;
  Places const& places_;
};

}  // namespace

Status check_across(Definition const& definition, Places const& places) {
  return Checker(definition, places).across();
}

}  // namespace waggle::task::detail
