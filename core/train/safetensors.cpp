// SPDX-License-Identifier: MIT
#include "core/train/safetensors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"

namespace waggle::train {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxTensors = 100'000;
constexpr std::size_t kMaxDimensions = 16;
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 40;

Error malformed(std::string what) {
  return {Errc::malformed, "safetensors: " + std::move(what)};
}

std::size_t size_of(std::string_view dtype) noexcept {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return 0;
}

bool counter(std::string_view name) noexcept {
  return name.ends_with(".num_batches_tracked");
}

Result<StoredTensor> read_entry(std::string const& name, json const& entry) {
  auto const shown = name.substr(0, 128);
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    return malformed(cat("entry ", shown));
  auto const& dtype = entry["dtype"];
  auto const& shape = entry["shape"];
  auto const& offsets = entry["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || shape.size() > kMaxDimensions ||
      !offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return malformed(cat("entry ", shown));
  StoredTensor tensor{name,
                      dtype.get<std::string>(),
                      {},
                      offsets[0].get<std::uint64_t>(),
                      offsets[1].get<std::uint64_t>()};
  auto const size = size_of(tensor.dtype);
  if (size == 0) return malformed(cat("dtype of ", shown));
  std::uint64_t values = 1;
  for (auto const& d : shape) {
    if (!d.is_number_unsigned()) return malformed(cat("shape of ", shown));
    auto const n = d.get<std::uint64_t>();
    if (n > kMaxValues || (n != 0 && values > kMaxValues / n))
      return malformed(cat("shape of ", shown));
    values *= n;
    tensor.shape.push_back(static_cast<std::int64_t>(n));
  }
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != values * size)
    return malformed(
        cat(shown, " has ", tensor.end - tensor.begin, " bytes, its shape takes ", values * size));
  return tensor;
}

// nlohmann keeps the last of two equal keys; the format forbids them, so they are seen while
// parsing.
class DuplicateKeys {
 public:
  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      if (depth > 2) bad_ = true;
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end && !keys_.empty()) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::array_start && depth > 3) {
      bad_ = true;
    } else if (event == json::parse_event_t::key && !keys_.empty()) {
      if (!keys_.back().insert(value.get<std::string>()).second) bad_ = true;
    }
    return true;
  }

  [[nodiscard]] bool bad() const noexcept { return bad_; }

 private:
  std::vector<std::set<std::string>> keys_;
  bool bad_ = false;
};

Status read_exactly(int source, MutableBytes out, std::uint64_t at) {
  while (!out.empty()) {
    auto const n = ::pread(source, out.data(), out.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{Errc::io, cat("safetensors: reading: ", std::strerror(errno))};
    if (n == 0) return malformed("file cut off");
    out = out.subspan(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  return ok();
}

Status write_all(int target, ByteView in) {
  while (!in.empty()) {
    auto const n = ::write(target, in.data(), std::min<std::size_t>(in.size(), 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{Errc::io, cat("safetensors: writing: ", std::strerror(errno))};
    in = in.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(ByteView front, std::uint64_t file_size) {
  if (front.size() < 8) return malformed("shorter than its length field");
  auto const length = load_le<std::uint64_t>(front);
  if (length > kMaxSafetensorsHeader)
    return Error{Errc::too_large,
                 cat("safetensors: header of ", length, " bytes, limit ", kMaxSafetensorsHeader)};
  if (length < 2 || front.size() - 8 < length) return malformed("header cut off");
  auto const text = as_text(front.subspan(8, length));
  if (text.front() != '{') return malformed("header does not begin with {");
  DuplicateKeys duplicates;
  auto const parsed = json::parse(text, std::ref(duplicates), false);
  if (parsed.is_discarded() || !parsed.is_object()) return malformed("header is no JSON object");
  if (duplicates.bad()) return malformed("header repeats a name or nests too deep");
  if (parsed.size() > kMaxTensors) return malformed(cat(parsed.size(), " tensors"));
  SafetensorsHeader header;
  header.data_start = 8 + length;
  for (auto const& [name, entry] : parsed.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) return malformed("__metadata__ is no object");
      for (auto const& [key, value] : entry.items()) {
        if (!value.is_string()) return malformed("__metadata__ holds more than text");
        header.metadata.emplace_back(key, value.get<std::string>());
      }
      continue;
    }
    WAGGLE_TRY(auto tensor, read_entry(name, entry));
    header.tensors.push_back(std::move(tensor));
  }
  std::sort(header.tensors.begin(), header.tensors.end(), [](auto const& a, auto const& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (auto const& tensor : header.tensors) {
    if (tensor.begin != at)
      return malformed(cat("hole or overlap before ", tensor.name.substr(0, 128)));
    at = tensor.end;
  }
  if (file_size < header.data_start || file_size - header.data_start != at)
    return malformed(
        cat("file of ", file_size, " bytes, its header describes ", header.data_start + at));
  return header;
}

Bytes write_safetensors_header(std::span<TensorSpec const> tensors,
                               std::span<std::pair<std::string, std::string> const> metadata) {
  auto header = ordered_json::object();
  if (!metadata.empty()) {
    auto& pairs = header["__metadata__"] = ordered_json::object();
    for (auto const& [key, value] : metadata) pairs[key] = value;
  }
  std::uint64_t at = 0;
  for (auto const& tensor : tensors) {
    auto const end = at + 4 * tensor.numel();
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  auto text = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  Bytes out(8 + text.size());
  store_le<std::uint64_t>(out, text.size());
  std::memcpy(out.data() + 8, text.data(), text.size());
  return out;
}

Result<std::uint64_t> write_safetensors(
    int target,
    std::span<TensorSpec const> tensors,
    std::span<std::span<float const> const> parts,
    std::span<std::pair<std::string, std::string> const> metadata) {
  std::uint64_t values = 0;
  for (auto const& part : parts) values += part.size();
  std::uint64_t expected = 0;
  for (auto const& tensor : tensors) expected += tensor.numel();
  WAGGLE_ASSERT(values == expected, values, " values for ", expected);
  auto const header = write_safetensors_header(tensors, metadata);
  WAGGLE_TRY_STATUS(write_all(target, header));
  for (auto const& part : parts) WAGGLE_TRY_STATUS(write_all(target, std::as_bytes(part)));
  return header.size() + 4 * values;
}

Result<std::vector<float>> read_safetensors(int source, std::span<TensorSpec const> tensors) {
  struct stat info {};

  if (::fstat(source, &info) != 0 || info.st_size < 8) return malformed("no file, or an empty one");
  auto const file_size = static_cast<std::uint64_t>(info.st_size);
  Bytes front(8);
  WAGGLE_TRY_STATUS(read_exactly(source, front, 0));
  auto const length = load_le<std::uint64_t>(front);
  if (length <= kMaxSafetensorsHeader && 8 + length <= file_size) {
    front.resize(8 + length);
    WAGGLE_TRY_STATUS(read_exactly(source, MutableBytes(front).subspan(8), 8));
  }
  WAGGLE_TRY(auto const header, read_safetensors_header(front, file_size));
  std::map<std::string_view, StoredTensor const*> stored;
  for (auto const& tensor : header.tensors)
    if (!counter(tensor.name)) stored.emplace(tensor.name, &tensor);
  if (stored.size() > tensors.size())
    return malformed(cat(stored.size(), " tensors, the model has ", tensors.size()));
  std::size_t total = 0;
  for (auto const& spec : tensors) {
    auto const it = stored.find(spec.name);
    if (it == stored.end()) return malformed(cat("no tensor ", spec.name));
    if (it->second->dtype != "F32") return malformed(cat(spec.name, " is not F32"));
    if (it->second->shape != spec.shape) return malformed(cat(spec.name, " has another shape"));
    total += spec.numel();
  }
  std::vector<float> values(total);
  std::size_t at = 0;
  for (auto const& spec : tensors) {
    auto const out = std::span(values).subspan(at, spec.numel());
    WAGGLE_TRY_STATUS(read_exactly(
        source, std::as_writable_bytes(out), header.data_start + stored.at(spec.name)->begin));
    at += spec.numel();
  }
  return values;
}

}  // namespace waggle::train
