// SPDX-License-Identifier: MIT
#include "core/train/safetensors.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.hpp"

namespace waggle::train {
namespace {

Bytes file_of(std::string const& json, std::size_t data) {
  Bytes out(8);
  store_le<std::uint64_t>(out, json.size());
  append(out, as_bytes(json));
  out.resize(out.size() + data);
  return out;
}

Result<SafetensorsHeader> parse(std::string const& json, std::size_t data) {
  auto const bytes = file_of(json, data);
  return read_safetensors_header(bytes, bytes.size());
}

TEST_CASE("safetensors, what is written reads back, byte for byte as the format says") {
  std::vector<TensorSpec> const specs{{"b", {2, 3}}, {"a", {}}, {"c", {1}}};
  std::vector<float> const first{1, 2, 3, 4, 5, 6}, second{7, 8};
  std::vector<std::span<float const>> const parts{first, second};
  std::vector<std::pair<std::string, std::string>> const metadata{{"format", "pt"}};
  Fd const file(::memfd_create("test", MFD_CLOEXEC));
  auto const written = write_safetensors(file.get(), specs, parts, metadata);
  REQUIRE(written);
  CHECK(*written == static_cast<std::uint64_t>(::lseek(file.get(), 0, SEEK_END)));
  auto const header = write_safetensors_header(specs, metadata);
  CHECK(header.size() % 8 == 0);
  CHECK(as_text(header).substr(8).starts_with(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[24,28]},"c":)"));
  auto const back = read_safetensors(file.get(), specs);
  REQUIRE(back);
  CHECK(*back == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  // In the reader's own order.
  std::vector<TensorSpec> const turned{{"c", {1}}, {"a", {}}, {"b", {2, 3}}};
  auto const other = read_safetensors(file.get(), turned);
  REQUIRE(other);
  CHECK(other->front() == 8);
  CHECK(!read_safetensors(file.get(), std::vector<TensorSpec>{{"b", {2, 3}}}));
  CHECK(
      !read_safetensors(file.get(), std::vector<TensorSpec>{{"b", {3, 2}}, {"a", {}}, {"c", {1}}}));
  CHECK(
      !read_safetensors(file.get(), std::vector<TensorSpec>{{"x", {2, 3}}, {"a", {}}, {"c", {1}}}));
}

TEST_CASE("safetensors, hostile headers are refused") {
  std::string const good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  REQUIRE(parse(good, 8));
  CHECK(!parse(good, 7));
  CHECK(!parse(good, 9));
  auto const bad = [](char const* json, std::size_t data) { return !parse(json, data); };
  CHECK(bad(R"([])", 0));
  CHECK(bad(R"({"a":1})", 0));
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4));
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8));
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8));
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8));
  CHECK(bad(R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8));
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8));
  // 2^62 values twice over 64 bits.
  CHECK(bad(R"({"a":{"dtype":"F32","shape":[4294967296,1073741824],"data_offsets":[0,0]}})", 0));
  // A hole, an overlap, the same name twice.
  CHECK(bad(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3));
  CHECK(bad(
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
      3));
  CHECK(bad(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      1));
  CHECK(bad(R"({"__metadata__":{"a":1}})", 0));
  CHECK(bad((std::string(5000, '[') + std::string(5000, ']')).c_str(), 0));
}

TEST_CASE("safetensors, a header of any claimed length is bounded by the file") {
  Bytes front(8, std::byte{0xff});
  auto const huge = read_safetensors_header(front, 8);
  REQUIRE(!huge);
  CHECK(huge.error().code == Errc::too_large);
  store_le<std::uint64_t>(front, 100);
  CHECK(!read_safetensors_header(front, 8));
  CHECK(!read_safetensors_header(Bytes(3), 3));
  Fd const file(::memfd_create("test", MFD_CLOEXEC));
  CHECK(!read_safetensors(file.get(), {}));
  REQUIRE(::write(file.get(), front.data(), front.size()) == 8);
  CHECK(!read_safetensors(file.get(), {}));
}

}  // namespace
}  // namespace waggle::train
