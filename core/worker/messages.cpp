// SPDX-License-Identifier: MIT
#include "core/worker/messages.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>

#include "core/base/text.hpp"

namespace waggle::worker {
namespace {

// One list of fields a message, read by the writer and by the reader alike: they cannot disagree.
template <class Ar>
void fields(Ar& ar, TensorFacts& m) {
  ar(m.name, m.shape);
}

template <class Ar>
void fields(Ar& ar, Facts& m) {
  ar(m.parameters, m.extras, m.statistics, m.step_tensors, m.training_flops_per_sample);
  ar(m.train_samples, m.test_samples, m.micro_batch, m.device, m.sandbox);
  ar(m.can_gpu, m.rocm, m.gpu, m.gpu_trouble);
}

template <class Ar>
void fields(Ar& ar, Start& m) {
  ar(m.config_json, m.seed, m.init_seed, m.threads, m.memory_limit, m.gpu_memory_limit, m.gpu);
  ar(m.sandbox, m.train_files);
}

template <class Ar>
void fields(Ar& ar, Buffers& m) {
  ar(m.initialise);
}

template <class Ar>
void fields(Ar& ar, Accumulate& m) {
  ar(m.position, m.samples, m.version, m.threads);
}

template <class Ar>
void fields(Ar& ar, Apply& m) {
  ar(m.epoch, m.steps);
}

template <class Ar>
void fields(Ar& ar, Evaluate& m) {
  ar(m.version, m.most);
}

template <class Ar>
void fields(Ar& ar, Probe& m) {
  ar(m.most);
}

template <class Ar>
void fields(Ar& ar, Metadata& m) {
  ar(m.epoch);
}

template <class Ar>
void fields(Ar& ar, Export& m) {
  ar(m.metadata);
}

template <class Ar>
void fields(Ar& ar, Import& m) {
  ar(m.unused);
}

template <class Ar>
void fields(Ar& ar, Predict& m) {
  ar(m.version, m.first, m.count);
}

template <class Ar>
void fields(Ar& ar, BatchDone& m) {
  ar(m.samples, m.loss_sum, m.finite, m.nanoseconds, m.gpu_nanoseconds);
}

template <class Ar>
void fields(Ar& ar, Stepped& m) {
  ar(m.learning_rate, m.gradient_norm);
}

template <class Ar>
void fields(Ar& ar, Evaluated& m) {
  ar(m.samples, m.loss, m.accuracy, m.gpu_nanoseconds);
}

template <class Ar>
void fields(Ar& ar, Blob& m) {
  ar(m.bytes);
}

template <class Ar>
void fields(Ar& ar, PredictedOne& m) {
  ar(m.pixels, m.channels, m.height, m.width, m.label, m.probabilities, m.prompt, m.text);
}

template <class Ar>
void fields(Ar& ar, Predicted& m) {
  ar(m.items);
}

template <class Ar>
void fields(Ar& ar, Done& m) {
  ar(m.bytes);
}

template <class Ar>
void fields(Ar& ar, Failed& m) {
  ar(m.kind, m.text);
}

class Writer {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }

  template <class T>

  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(T const& value) {
    append(out, ByteView(reinterpret_cast<std::byte const*>(&value), sizeof value));
  }

  void put(std::string const& text) {
    count(text.size());
    append(out, as_bytes(text));
  }

  void put(Bytes const& bytes) {
    count(bytes.size());
    append(out, bytes);
  }

  template <class A, class B>
  void put(std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }

  template <class T>

  requires(!std::same_as<T, std::byte>) void put(std::vector<T>& items) {
    count(items.size());
    for (auto& item : items) put(item);
  }

  template <class T>

  requires requires(Writer& w, T& m) { fields(w, m); }

  void put(T& message) { fields(*this, message); }

  Bytes out;

 private:
  void count(std::size_t n) { put(static_cast<std::uint32_t>(n)); }
};

class Reader {
 public:
  explicit Reader(ByteView in) : in_(in) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

  template <class T>

  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void get(T& value) {
    if (!good_ || in_.size() < sizeof value) return fail();
    if constexpr (std::same_as<T, bool>) {
      auto const byte = std::to_integer<int>(in_[0]);
      if (byte > 1) return fail();
      value = byte == 1;
    } else {
      std::memcpy(&value, in_.data(), sizeof value);
    }
    in_ = in_.subspan(sizeof value);
  }

  void get(std::string& text) {
    auto const n = count(1, kMaxText);
    text.assign(as_text(in_.first(n)));
    in_ = in_.subspan(n);
  }

  void get(Bytes& bytes) {
    auto const n = count(1, kMaxMessage);
    bytes.assign(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(n));
    in_ = in_.subspan(n);
  }

  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }

  template <class T>

  requires(!std::same_as<T, std::byte>) void get(std::vector<T>& items) {
    // An item takes at least 4 bytes of the packet, so the packet bounds what is allocated.
    items.resize(count(4, kMaxMessage / 4));
    for (auto& item : items) get(item);
  }

  template <class T>

  requires requires(Reader& r, T& m) { fields(r, m); }

  void get(T& message) { fields(*this, message); }

  [[nodiscard]] bool finished() const noexcept { return good_ && in_.empty(); }

 private:
  void fail() noexcept {
    good_ = false;
    in_ = {};
  }

  std::size_t count(std::size_t item, std::size_t most) {
    std::uint32_t n = 0;
    get(n);
    if (n > most || n > in_.size() / item) {
      fail();
      return 0;
    }
    return n;
  }

  ByteView in_;
  bool good_ = true;
};

template <std::size_t I = 0>
Result<Message> decode_as(std::size_t index, Reader& reader) {
  if constexpr (I == std::variant_size_v<Message>) {
    return Error{Errc::malformed, cat("trainer message of unknown kind ", index)};
  } else {
    if (index != I) return decode_as<I + 1>(index, reader);
    std::variant_alternative_t<I, Message> message;
    fields(reader, message);
    if (!reader.finished()) return Error{Errc::malformed, cat("trainer message of kind ", index)};
    return Message(std::move(message));
  }
}

bool sane(Failed const& m) {
  return m.kind >= Failed::Kind::memory && m.kind <= Failed::Kind::internal;
}

// A model as a whole stays below what one machine addresses, so that products do not overflow.
bool sane(std::vector<TensorFacts> const& tensors) {
  constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 36;
  if (tensors.size() > kMaxTensors) return false;
  std::uint64_t total = 0;
  for (auto const& t : tensors) {
    std::uint64_t n = 1;
    if (t.shape.size() > 8) return false;
    for (auto const d : t.shape) {
      if (d < 1 || static_cast<std::uint64_t>(d) > kMaxValues / n) return false;
      n *= static_cast<std::uint64_t>(d);
    }
    total += n;
    if (total > kMaxValues) return false;
  }
  return true;
}

std::uint64_t values_of(std::vector<TensorFacts> const& tensors) noexcept {
  std::uint64_t n = 0;
  for (auto const& t : tensors) n += t.numel();
  return n;
}

}  // namespace

std::uint64_t Facts::parameter_values() const noexcept {
  return values_of(parameters);
}

std::uint64_t Facts::extra_values() const noexcept {
  return values_of(extras);
}

std::uint64_t Facts::statistic_values() const noexcept {
  return parameter_values() * statistics.size();
}

std::uint32_t Facts::probe_samples() const noexcept {
  if (!(training_flops_per_sample > 0)) return kProbeSamples;
  auto const affordable = std::clamp(kProbeFlops / training_flops_per_sample,
                                     static_cast<double>(kFewestProbeSamples),
                                     static_cast<double>(kProbeSamples));
  return static_cast<std::uint32_t>(affordable);
}

std::vector<TensorFacts> Facts::state_averaging() const {
  auto out = parameters;
  for (auto const& statistic : statistics)
    for (auto const& p : parameters) out.push_back({statistic + "." + p.name, p.shape});
  out.insert(out.end(), extras.begin(), extras.end());
  return out;
}

std::vector<TensorFacts> Facts::download() const {
  auto out = parameters;
  out.insert(out.end(), extras.begin(), extras.end());
  for (auto const& p : parameters) {
    for (auto const& statistic : statistics) out.push_back({statistic + "." + p.name, p.shape});
    if (step_tensors) out.push_back({"step." + p.name, {}});
  }
  return out;
}

std::uint64_t Facts::download_values() const noexcept {
  return parameter_values() + extra_values() + statistic_values() +
         (step_tensors ? parameters.size() : 0);
}

Result<Bytes> encode(Message const& message) {
  Writer writer;
  writer.put(static_cast<std::uint8_t>(message.index()));
  auto copy = message;  // the field lists take mutable references for the reader's sake
  std::visit([&](auto& m) { fields(writer, m); }, copy);
  if (writer.out.size() > kMaxMessage)
    return Error{Errc::too_large,
                 cat("trainer message of ", writer.out.size(), " bytes, limit ", kMaxMessage)};
  return std::move(writer.out);
}

Result<Message> decode(ByteView packet) {
  if (packet.size() > kMaxMessage)
    return Error{Errc::too_large, cat("trainer message of ", packet.size(), " bytes")};
  Reader reader(packet);
  std::uint8_t kind = 0xff;
  reader(kind);
  WAGGLE_TRY(auto message, decode_as(kind, reader));
  if (auto const* failed = std::get_if<Failed>(&message); failed && !sane(*failed))
    return Error{Errc::malformed, "trainer failure of unknown kind"};
  if (auto const* facts = std::get_if<Facts>(&message);
      facts && !(sane(facts->parameters) && sane(facts->extras) && facts->statistics.size() <= 2))
    return Error{Errc::malformed, "trainer facts with impossible tensors"};
  return message;
}

}  // namespace waggle::worker
