// SPDX-License-Identifier: MIT
#include "core/train/model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/train/detail/allocator.hpp"
#include "core/train/detail/buffers.hpp"
#include "core/train/detail/net.hpp"
#include "core/train/gpu.hpp"
#include "core/train/random.hpp"

namespace waggle::train {
namespace {

using detail::Declared;
using detail::Initial;

std::vector<TensorSpec> specs(std::vector<Declared> const& declared) {
  std::vector<TensorSpec> out;
  for (auto const& d : declared) out.push_back(d.spec);
  return out;
}

std::size_t values(std::vector<TensorSpec> const& tensors) noexcept {
  std::size_t n = 0;
  for (auto const& t : tensors) n += t.numel();
  return n;
}

void fill(std::vector<Declared> const& declared,
          std::uint64_t seed,
          std::uint64_t purpose,
          float* out) {
  for (std::size_t i = 0; i < declared.size(); ++i) {
    Random random(seed, purpose, i);
    auto const& initial = declared[i].initial;
    for (std::size_t k = 0; k < declared[i].spec.numel(); ++k) {
      double value = initial.scale;
      if (initial.kind == Initial::Kind::normal) value *= random.normal();
      if (initial.kind == Initial::Kind::uniform) value *= 2 * random.unit() - 1;
      *out++ = static_cast<float>(value);
    }
  }
}

/// bfloat16 where torch thinks it safe, for as long as this lives.
class Autocast {
 public:
  explicit Autocast(bool on) : on_(on) {
    if (!on_) return;
    at::autocast::set_cpu_enabled(true);
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::increment_nesting();
  }

  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(false);
  }

  Autocast(Autocast const&) = delete;
  Autocast& operator=(Autocast const&) = delete;

 private:
  bool on_;
};

/// Runs `f` and turns what torch throws into an Error: too_large when it was about memory (of a GPU
/// too, whose OutOfMemoryError is a c10::Error that says so), io when the GPU is lost.
template <class F>
auto translated(F const& f) -> decltype(f()) {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    return Error{Errc::too_large, "out of memory"};  // worker::kHostMemory
  } catch (c10::Error const& e) {
    std::string text = e.what_without_backtrace();
    auto const code = says_out_of_memory(text) ? Errc::too_large
                      : says_gpu_lost(text)    ? Errc::io
                                               : Errc::invalid;
    return Error{code, std::string(utf8_prefix(text, 512))};
  } catch (std::exception const& e) {
    return Error{Errc::invalid, e.what()};
  }
}

}  // namespace

struct Model::State {
  std::unique_ptr<detail::Net> net;
  std::vector<TensorSpec> parameters, extras;
  std::size_t parameter_values = 0, extra_values = 0;
  std::int64_t context = 0;  // 0: images
  double weight_decay = 0, label_smoothing = 0;
  bool bf16 = false;
  at::Device device{at::kCPU};

  ModelBuffers buffers;
  std::vector<at::Tensor> parameter_tensors, extra_tensors;
  // With a device: its own flat copies, of which the tensors above are views.
  at::Tensor device_parameters, device_gradients, device_extras;
  bool stale = true;
  std::chrono::steady_clock::time_point gpu_started{}, gpu_stopped{};

  static at::Tensor wrap(float* data, c10::IntArrayRef shape) {
    return at::from_blob(data, shape, at::TensorOptions().dtype(at::kFloat));
  }

  static void slice(std::vector<TensorSpec> const& tensors,
                    float* data,
                    at::Tensor const& flat,
                    std::vector<at::Tensor>& out) {
    std::size_t at = 0;
    for (auto const& spec : tensors) {
      auto const n = spec.numel();
      // from_blob a tensor, not views of one: autograd then takes it for a leaf of its own.
      out.push_back(
          data != nullptr
              ? wrap(data + at, spec.shape)
              : flat.narrow(0, static_cast<std::int64_t>(at), static_cast<std::int64_t>(n))
                    .view(spec.shape)
                    .detach());
      at += n;
    }
  }

  // All or nothing: what may throw comes first. A GPU's copies are taken once, so that binding
  // another state, and this one again, cannot run out of its memory.
  void bind(ModelBuffers b) {
    at::NoGradGuard const no_grad;
    bool const cpu = device.is_cpu();
    if (!cpu) {
      auto const options = at::TensorOptions().dtype(at::kFloat).device(device);
      auto const n = static_cast<std::int64_t>(parameter_values);
      if (!device_parameters.defined()) device_parameters = at::empty({n}, options);
      if (!device_extras.defined())
        device_extras = at::empty({static_cast<std::int64_t>(extra_values)}, options);
      // A batch begins by zeroing it.
      if (!device_gradients.defined() && !b.gradients.empty())
        device_gradients = at::empty({n}, options);
    }
    std::vector<at::Tensor> bound, bound_extras, gradients;
    slice(parameters, cpu ? b.parameters.data() : nullptr, device_parameters, bound);
    slice(extras, cpu ? b.extras.data() : nullptr, device_extras, bound_extras);
    if (!b.gradients.empty())
      slice(parameters, cpu ? b.gradients.data() : nullptr, device_gradients, gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      bound[i].set_requires_grad(true);
      // A defined gradient is added to in place, so it stays where the node can see it.
      bound[i].mutable_grad() = gradients[i];
    }
    buffers = b;
    parameter_tensors = std::move(bound);
    extra_tensors = std::move(bound_extras);
    stale = true;
  }

  void upload() {
    if (device.is_cpu() || !stale) return;
    at::NoGradGuard const no_grad;
    device_parameters.copy_(
        wrap(buffers.parameters.data(), {static_cast<std::int64_t>(parameter_values)}));
    device_extras.copy_(wrap(buffers.extras.data(), {static_cast<std::int64_t>(extra_values)}));
    stale = false;
  }

  void download() {
    if (device.is_cpu()) return;
    at::NoGradGuard const no_grad;
    auto const gradients = device_gradients.cpu();
    wrap(buffers.extras.data(), {static_cast<std::int64_t>(extra_values)}).copy_(device_extras);
    gpu_stopped = std::chrono::steady_clock::now();  // both copies have waited for it
    wrap(buffers.gradients.data(), {static_cast<std::int64_t>(parameter_values)}).add_(gradients);
  }

  void begin_batch() {
    if (device.is_cpu()) return;
    gpu_started = std::chrono::steady_clock::now();
    // At the begin, not the end: a batch for which the memory ran out left some of its sum here.
    if (device_gradients.defined()) device_gradients.zero_();
  }

  // A result that was read, or copied back, is the last thing that the GPU did.
  double gpu_seconds() {
    if (device.is_cpu()) return 0;
    if (gpu_stopped < gpu_started) gpu_stopped = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(gpu_stopped - gpu_started).count();
  }

  /// The net's input and what it should say, on the device.
  std::pair<at::Tensor, at::Tensor> tensors(Input const& in) const {
    auto* const tokens = const_cast<std::int64_t*>(in.tokens.data());
    if (context == 0) {
      auto const x =
          wrap(const_cast<float*>(in.pixels.data()), {in.count, in.channels, in.height, in.width});
      return {x.to(device), at::from_blob(tokens, {in.count}, at::kLong).to(device)};
    }
    auto const windows = at::from_blob(tokens, {in.count, context + 1}, at::kLong).to(device);
    return {windows.slice(1, 0, context), windows.slice(1, 1).reshape({-1})};
  }

  at::Tensor forward(at::Tensor const& x, bool training) const {
    Autocast const autocast(bf16);
    return net->forward(x, parameter_tensors, extra_tensors, training).to(at::kFloat);
  }

  double per_sample() const { return context == 0 ? 1.0 : 1.0 / static_cast<double>(context); }
};

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Model::~Model() = default;

Result<std::unique_ptr<Model>> Model::make(Config const& config,
                                           std::int64_t height,
                                           std::int64_t width,
                                           bool gpu) {
  auto state = std::make_unique<State>();
  if (config.model.family == "gpt") {
    state->net = detail::make_gpt(config.model);
    state->context = config.model.context;
  } else {
    state->net = detail::make_resnet(config.model, height, width);
  }
  state->parameters = specs(state->net->parameters());
  state->extras = specs(state->net->extras());
  state->parameter_values = values(state->parameters);
  state->extra_values = values(state->extras);
  state->weight_decay = config.train.weight_decay;
  state->label_smoothing = config.train.label_smoothing;
  if (gpu) state->device = at::Device(at::kCUDA, 0);
  return std::unique_ptr<Model>(new Model(std::move(state)));
}

std::vector<TensorSpec> const& Model::parameters() const noexcept {
  return state_->parameters;
}

std::vector<TensorSpec> const& Model::extras() const noexcept {
  return state_->extras;
}

std::size_t Model::parameter_values() const noexcept {
  return state_->parameter_values;
}

std::size_t Model::extra_values() const noexcept {
  return state_->extra_values;
}

std::vector<ParameterGroup> Model::groups() const {
  std::size_t first = 0;
  for (std::size_t i = 0; i < state_->net->decaying(); ++i) first += state_->parameters[i].numel();
  std::vector<ParameterGroup> groups{{0, first, state_->weight_decay}};
  if (state_->net->two_groups()) groups.push_back({first, state_->parameter_values, 0});
  return groups;
}

std::vector<std::size_t> Model::tensors_per_group() const {
  auto const first = state_->net->decaying();
  if (!state_->net->two_groups()) return {first};
  return {first, state_->parameters.size() - first};
}

double Model::training_flops() const noexcept {
  return 3 * state_->net->forward_flops();
}

std::string Model::device() const {
  return state_->device.str() + (state_->bf16 ? " bf16" : " f32");
}

void Model::initialise(std::uint64_t seed,
                       std::span<float> parameters,
                       std::span<float> extras) const {
  WAGGLE_ASSERT(parameters.size() == state_->parameter_values, parameters.size());
  WAGGLE_ASSERT(extras.size() == state_->extra_values, extras.size());
  fill(state_->net->parameters(), seed, 11, parameters.data());
  fill(state_->net->extras(), seed, 12, extras.data());
}

Status Model::bind(ModelBuffers buffers) {
  auto const& s = *state_;
  WAGGLE_TRY_STATUS(detail::fits("parameters", buffers.parameters, s.parameter_values));
  if (!buffers.gradients.empty())
    WAGGLE_TRY_STATUS(detail::fits("gradients", buffers.gradients, s.parameter_values));
  WAGGLE_TRY_STATUS(detail::fits("extras", buffers.extras, s.extra_values));
  return translated([&]() -> Status {
    state_->bind(buffers);
    return ok();
  });
}

void Model::written() noexcept {
  state_->stale = true;
}

Result<LossSum> Model::accumulate(Input const& input) {
  auto& s = *state_;
  return translated([&]() -> Result<LossSum> {
    s.begin_batch();
    s.upload();
    auto const [x, target] = s.tensors(input);
    auto const logits = s.forward(x, true);
    auto loss =
        at::cross_entropy_loss(logits, target, {}, at::Reduction::Sum, -100, s.label_smoothing);
    if (s.context != 0) loss = loss * s.per_sample();
    LossSum out{static_cast<std::uint64_t>(input.count), loss.item<double>(), 0, true, 0};
    out.finite = std::isfinite(out.loss_sum);
    if (!out.finite) {
      out.gpu_seconds = s.gpu_seconds();
      return out;
    }
    loss.backward();
    s.download();
    out.gpu_seconds = s.gpu_seconds();
    out.finite = all_finite(s.buffers.gradients) && all_finite(s.buffers.extras);
    return out;
  });
}

Result<LossSum> Model::evaluate(Input const& input) {
  auto& s = *state_;
  return translated([&]() -> Result<LossSum> {
    at::NoGradGuard const no_grad;
    s.begin_batch();
    s.upload();
    auto const [x, target] = s.tensors(input);
    auto const logits = s.forward(x, false);
    auto const loss = at::cross_entropy_loss(logits, target, {}, at::Reduction::Sum, -100, 0.0);
    auto const right = logits.argmax(1).eq(target).sum();
    LossSum out;
    out.samples = static_cast<std::uint64_t>(input.count);
    out.loss_sum = loss.item<double>() * s.per_sample();
    out.correct = static_cast<double>(right.item<std::int64_t>()) * s.per_sample();
    out.finite = std::isfinite(out.loss_sum);
    out.gpu_seconds = s.gpu_seconds();
    return out;
  });
}

Result<std::vector<float>> Model::probabilities(Input const& input) {
  auto& s = *state_;
  return translated([&]() -> Result<std::vector<float>> {
    at::NoGradGuard const no_grad;
    s.upload();
    at::Tensor logits;
    if (s.context == 0) {
      logits = s.forward(s.tensors(input).first, false);
    } else {
      auto const length = static_cast<std::int64_t>(input.tokens.size()) / input.count;
      auto* const tokens = const_cast<std::int64_t*>(input.tokens.data());
      auto const x = at::from_blob(tokens, {input.count, length}, at::kLong).to(s.device);
      logits = s.forward(x, false).view({input.count, length, -1}).select(1, length - 1);
    }
    auto const p = at::softmax(logits, 1).to(at::kCPU).contiguous();
    return std::vector<float>(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  });
}

Status Model::choose_precision(Input const& input) {
  auto& s = *state_;
  if (!s.device.is_cpu()) return ok();
  auto const shared = s.buffers;
  std::vector<float> parameters(s.parameter_values), gradients(s.parameter_values),
      extras(s.extra_values);
  initialise(1, parameters, extras);
  s.bind({parameters, gradients, extras});
  double fastest[2] = {1e9, 1e9};
  for (int round = 0; round < 3; ++round)
    for (bool const bf16 : {false, true}) {
      s.bf16 = bf16;
      auto const begin = std::chrono::steady_clock::now();
      auto const loss = accumulate(input);
      std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
      if (!loss || !loss->finite) continue;
      if (round > 0) fastest[bf16] = std::min(fastest[bf16], took.count());
    }
  s.bf16 = fastest[1] < 0.9 * fastest[0];
  if (!shared.parameters.empty()) s.bind(shared);
  return ok();
}

void configure_torch(std::uint32_t threads, std::uint64_t memory_limit) {
  detail::install_capped_allocator(memory_limit);
  use_threads(threads);
}

void use_threads(std::uint32_t threads) {
  int const wanted = static_cast<int>(std::max(threads, 1u));
  if (at::get_num_threads() != wanted) at::set_num_threads(wanted);
}

}  // namespace waggle::train
