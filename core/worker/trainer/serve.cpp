// SPDX-License-Identifier: MIT
#include "core/worker/trainer/serve.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <malloc.h>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/train/gpu.hpp"
#include "core/train/trainer.hpp"
#include "core/wire/msgpack.hpp"
#include "core/worker/messages.hpp"
#include "core/worker/packet.hpp"
#include "core/worker/trainer/sandbox.hpp"

// Binds the value or answers with the failure.
#define WAGGLE_FAIL_TRY(name, expr)                       \
  auto name##_tried = (expr);                             \
  if (!name##_tried) return failed(name##_tried.error()); \
  auto name = *std::move(name##_tried)

namespace waggle::worker {
namespace {

Failed failed(Error const& error) {
  auto kind = Failed::Kind::invalid;
  if (error.code == Errc::too_large) kind = Failed::Kind::memory;
  if (error.code == Errc::malformed) kind = Failed::Kind::malformed;
  if (error.code == Errc::io) kind = Failed::Kind::io;
  return {kind, std::string(utf8_prefix(error.detail, 4096))};
}

// Of what only calculates: its one trouble with the machine is a GPU that is lost.
Failed failed_work(Error const& error) {
  auto answer = failed(error);
  if (error.code == Errc::io) answer.kind = Failed::Kind::gpu;
  return answer;
}

std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9);
}

TensorFacts describe(train::TensorSpec const& spec) {
  return {spec.name, spec.shape};
}

wire::Msgpack leaf_to_msgpack(train::MetadataLeaf const& leaf) {
  using Map = wire::Msgpack::Map;
  if (auto const* tensor = std::get_if<train::MetadataLeaf::Tensor>(&leaf.value))
    return Map{{"type", "tensor"}, {"index", tensor->index}};
  wire::Msgpack value;
  if (auto const* b = std::get_if<bool>(&leaf.value)) value = *b;
  if (auto const* i = std::get_if<std::int64_t>(&leaf.value)) value = *i;
  if (auto const* d = std::get_if<double>(&leaf.value)) value = *d;
  return Map{{"type", "value"}, {"value", std::move(value)}};
}

/// What the trainer holds between messages.
class Session {
 public:
  Message answer(Message const& question, std::vector<Fd>& descriptors) {
    descriptors_ = &descriptors;
    return std::visit([this](auto const& m) { return handle(m); }, question);
  }

 private:
  Message handle(Start const& m) {
    if (trainer_ || m.train_files > descriptors_->size())
      return Failed{Failed::Kind::invalid, "start out of turn"};
    WAGGLE_FAIL_TRY(config, train::parse_config(m.config_json));
    // A driver starts in a sandbox with a wider view; then, before a byte of a stranger's data is
    // read, all is closed but what it goes on with.
    train::Gpu gpu;
    Keeps keeps;
    if (m.gpu && train::can_gpu()) {
      bool const kept = !m.sandbox || keep_from_writing(gpu_keeps());
      if (kept)
        gpu = train::start_gpu(m.gpu_memory_limit);
      else
        gpu.trouble =
            "this kernel has no Landlock, without which a GPU is not let into the sandbox";
      if (gpu.works) keeps = gpu_keeps();
    }
    std::string const sandbox = m.sandbox ? enter_sandbox(keeps) : "none: switched off";
    train::configure_torch(m.threads, m.memory_limit);
    train::TrainerSetup setup;
    setup.gpu = gpu.works;
    setup.config = std::move(config);
    setup.seed = m.seed;
    setup.init_seed = m.init_seed;
    for (std::size_t i = 0; i < descriptors_->size(); ++i)
      (i < m.train_files ? setup.train_files : setup.test_files)
          .push_back((*descriptors_)[i].get());
    auto const micro_batch = static_cast<std::uint32_t>(setup.config.train.micro_batch);
    WAGGLE_FAIL_TRY(trainer, train::Trainer::make(std::move(setup)));
    trainer_ = std::move(trainer);
    Facts facts;
    for (auto const& p : trainer_->model().parameters()) facts.parameters.push_back(describe(p));
    for (auto const& e : trainer_->model().extras()) facts.extras.push_back(describe(e));
    facts.statistics = trainer_->optimizer().statistics();
    facts.step_tensors = trainer_->optimizer().step_tensors();
    facts.training_flops_per_sample = trainer_->model().training_flops();
    facts.train_samples = trainer_->train_samples();
    facts.test_samples = trainer_->test_samples();
    facts.micro_batch = micro_batch;
    facts.device = trainer_->model().device();
    facts.sandbox = sandbox;
    facts.can_gpu = train::can_gpu();
    facts.rocm = train::is_rocm();
    facts.gpu = std::move(gpu.address);
    facts.gpu_trouble = std::move(gpu.trouble);
    facts_ = facts;
    return facts;
  }

  Message handle(Buffers const& m) {
    if (!trainer_ || descriptors_->size() != 4)
      return Failed{Failed::Kind::invalid, "buffers out of turn"};
    std::size_t const sizes[] = {facts_.parameter_values(),
                                 facts_.parameter_values(),
                                 facts_.extra_values(),
                                 facts_.statistic_values()};
    for (std::size_t i = 0; i < 4; ++i) {
      WAGGLE_FAIL_TRY(mapping, Mapping::map((*descriptors_)[i].get(), sizes[i]));
      mappings_[i] = std::move(mapping);
    }
    auto const bound =
        trainer_->bind({{mappings_[0].values(), mappings_[1].values(), mappings_[2].values()},
                        mappings_[3].values()},
                       m.initialise);
    if (!bound) return failed_work(bound.error());
    bound_ = true;
    return Done{};
  }

  Message handle(Accumulate const& m) {
    if (!bound_) return unbound();
    seen(m.version);
    train::use_threads(m.threads);
    auto const begin = std::chrono::steady_clock::now();
    auto const loss = trainer_->accumulate(m.position, m.samples);
    if (!loss) return failed_work(loss.error());
    auto const took = std::chrono::steady_clock::now() - begin;
    return BatchDone{loss->samples,
                     loss->loss_sum,
                     loss->finite,
                     static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()),
                     nanoseconds(loss->gpu_seconds)};
  }

  Message handle(Apply const& m) {
    if (!bound_) return unbound();
    auto const step = trainer_->apply(m.epoch, m.steps);
    return Stepped{step.learning_rate, step.gradient_norm};
  }

  Message handle(Evaluate const& m) {
    if (!bound_) return unbound();
    seen(m.version);
    return evaluated(trainer_->evaluate(m.most));
  }

  Message handle(Probe const& m) {
    if (!bound_ || descriptors_->size() != 1) return unbound();
    auto const n = facts_.parameter_values();
    auto const extras = facts_.extra_values();
    WAGGLE_FAIL_TRY(mapping, Mapping::map(descriptors_->front().get(), n + extras));
    return evaluated(
        trainer_->probe(mapping.values().first(n), mapping.values().subspan(n, extras), m.most));
  }

  Message handle(Metadata const& m) {
    if (!trainer_) return unbound();
    wire::Msgpack::Array list;
    for (auto const& leaf : trainer_->metadata(m.epoch)) list.push_back(leaf_to_msgpack(leaf));
    return Blob{wire::Msgpack(std::move(list)).encode()};
  }

  Message handle(Export const& m) {
    if (!bound_ || descriptors_->size() != 1) return unbound();
    WAGGLE_FAIL_TRY(bytes, trainer_->export_to(descriptors_->front().get(), m.metadata));
    return Done{bytes};
  }

  Message handle(Import const&) {
    if (!bound_ || descriptors_->size() != 1) return unbound();
    auto const status = trainer_->import_from(descriptors_->front().get());
    if (!status) return failed(status.error());
    return Done{};
  }

  Message handle(Predict const& m) {
    if (!bound_) return unbound();
    seen(m.version);
    auto predictions = trainer_->predictions(m.first, m.count);
    if (!predictions) return failed_work(predictions.error());
    Predicted out;
    std::size_t size = 0;
    for (auto& p : *predictions) {
      PredictedOne one{to_bytes(std::as_bytes(std::span(p.pixels))),
                       p.channels,
                       p.height,
                       p.width,
                       p.label,
                       std::move(p.probabilities),
                       std::move(p.prompt),
                       std::move(p.text)};
      size += one.pixels.size() + 4 * one.probabilities.size() + one.prompt.size() +
              one.text.size() + 64;
      if (size > kMaxMessage - 64) break;
      out.items.push_back(std::move(one));
    }
    return out;
  }

  // What only the trainer says.
  template <class T>
  Message handle(T const&) {
    return Failed{Failed::Kind::invalid, "an answer is no question"};
  }

  static Message evaluated(Result<train::TrainerEvaluation> const& e) {
    if (!e) return failed_work(e.error());
    return Evaluated{e->samples, e->loss, e->accuracy, nanoseconds(e->gpu_seconds)};
  }

  static Message unbound() { return Failed{Failed::Kind::invalid, "out of turn"}; }

  void seen(std::uint64_t version) {
    if (version != version_) trainer_->written();
    version_ = version;
  }

  std::unique_ptr<train::Trainer> trainer_;
  Facts facts_;
  Mapping mappings_[4];
  bool bound_ = false;
  std::uint64_t version_ = 0;
  std::vector<Fd>* descriptors_ = nullptr;
};

}  // namespace

int serve(int socket) {
  Session session;
  for (;;) {
    auto packet = receive_packet(socket);
    if (!packet) return packet.error().code == Errc::closed ? 0 : 1;
    auto const question = decode(packet->bytes);
    if (!question) {
      log::error("worker", question.error().detail);
      return 1;
    }
    auto const answer = session.answer(*question, packet->descriptors);
    auto bytes = encode(answer);
    if (!bytes) bytes = encode(failed(bytes.error()));
    auto const sent = send_packet(socket, *bytes, {});
    if (!sent) return sent.error().code == Errc::closed ? 0 : 1;
  }
}

void tune_malloc() noexcept {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
  ::mallopt(M_TOP_PAD, 256 << 20);
}

}  // namespace waggle::worker
