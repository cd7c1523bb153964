// SPDX-License-Identifier: MIT
#include "core/crypto/multibase.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace waggle::crypto {
namespace {

constexpr std::string_view kBase16 = "0123456789abcdef";
constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::string_view kBase36 = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBase58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Error bad_letter(std::string_view alphabet, std::size_t position) {
  return Error{Errc::malformed, cat("no base", alphabet.size(), " digit at position ", position)};
}

// Alphabets of 2^bits letters: the bytes as one bit string, cut into groups; the last is filled
// with zeros.
std::string encode_bits(ByteView bytes, std::string_view alphabet, unsigned bits) {
  std::string out;
  out.reserve((bytes.size() * 8 + bits - 1) / bits);
  unsigned held = 0;
  unsigned count = 0;
  for (auto const b : bytes) {
    held = held << 8 | std::to_integer<unsigned>(b);
    for (count += 8; count >= bits; count -= bits)
      out += alphabet[held >> (count - bits) & ((1u << bits) - 1)];
    held &= (1u << count) - 1;
  }
  if (count > 0) out += alphabet[held << (bits - count)];
  return out;
}

// Every byte's value as a digit, or kNoDigit. A search in the alphabet would cost most of a
// decoding.
constexpr unsigned char kNoDigit = 255;

constexpr std::array<unsigned char, 256> digits_of(std::string_view alphabet) {
  std::array<unsigned char, 256> out{};
  out.fill(kNoDigit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<unsigned char>(i);
  return out;
}

template <std::string_view const& alphabet>
Result<Bytes> decode_bits(std::string_view text, unsigned bits) {
  static constexpr auto kDigits = digits_of(alphabet);
  Bytes out;
  out.reserve(text.size() * bits / 8);
  unsigned held = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned const digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) return bad_letter(alphabet, i);
    held = held << bits | digit;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::byte>(held >> count));
    held &= (1u << count) - 1;
  }
  if (count >= bits || held != 0)
    return Error{Errc::malformed, cat("base", alphabet.size(), " text ends inside a byte")};
  return out;
}

// Other alphabets: the bytes as one number, and a zero digit for every zero byte in front of it.
std::string encode_number(ByteView bytes, std::string_view alphabet) {
  auto const base = static_cast<unsigned>(alphabet.size());
  std::vector<unsigned char> digits;  // least significant first
  for (auto const b : bytes) {
    unsigned carry = std::to_integer<unsigned>(b);
    for (auto& digit : digits) {
      carry += unsigned{digit} << 8;
      digit = static_cast<unsigned char>(carry % base);
      carry /= base;
    }
    for (; carry > 0; carry /= base) digits.push_back(static_cast<unsigned char>(carry % base));
  }
  auto const zeros =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  std::string out(static_cast<std::size_t>(zeros - bytes.begin()), alphabet[0]);
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) out += alphabet[*digit];
  return out;
}

Result<Bytes> decode_number(std::string_view text, std::string_view alphabet) {
  if (text.size() > kMaxBase58Text)
    return Error{Errc::too_large,
                 cat("base",
                     alphabet.size(),
                     " text of ",
                     text.size(),
                     " letters, at most ",
                     kMaxBase58Text)};
  auto const base = static_cast<unsigned>(alphabet.size());
  Bytes number;  // least significant first
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const digit = alphabet.find(text[i]);
    if (digit == std::string_view::npos) return bad_letter(alphabet, i);
    auto carry = static_cast<unsigned>(digit);
    for (auto& b : number) {
      carry += std::to_integer<unsigned>(b) * base;
      b = static_cast<std::byte>(carry);
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) number.push_back(static_cast<std::byte>(carry));
  }
  auto const zeros = std::min(text.find_first_not_of(alphabet[0]), text.size());
  Bytes out(zeros);
  out.insert(out.end(), number.rbegin(), number.rend());
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

std::string base58_encode(ByteView bytes) {
  return encode_number(bytes, kBase58);
}

Result<Bytes> base58_decode(std::string_view text) {
  return decode_number(text, kBase58);
}

std::string base64_encode(ByteView bytes) {
  auto out = encode_bits(bytes, kBase64, 6);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

Result<Bytes> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0)
    return Error{Errc::malformed, cat("base64 text of ", text.size(), " letters is cut off")};
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return decode_bits<kBase64>(text, 6);
}

std::string multibase_base64url(ByteView bytes) {
  return "u" + encode_bits(bytes, kBase64Url, 6);
}

std::string multibase_base32(ByteView bytes) {
  return "b" + encode_bits(bytes, kBase32, 5);
}

Result<Bytes> multibase_decode(std::string_view text) {
  if (text.empty()) return Error{Errc::malformed, "multibase text is empty"};
  auto const digits = text.substr(1);
  switch (text.front()) {
    case 'f':
      return decode_bits<kBase16>(digits, 4);
    case 'F':
      return decode_bits<kBase16>(lower(digits), 4);
    case 'b':
      return decode_bits<kBase32>(digits, 5);
    case 'B':
      return decode_bits<kBase32>(lower(digits), 5);
    case 'k':
      return decode_number(digits, kBase36);
    case 'K':
      return decode_number(lower(digits), kBase36);
    case 'z':
      return decode_number(digits, kBase58);
    case 'm':
      return decode_bits<kBase64>(digits, 6);
    case 'u':
      return decode_bits<kBase64Url>(digits, 6);
    default:
      return Error{Errc::malformed, "multibase letter is not one of f F b B k K z m u"};
  }
}

}  // namespace waggle::crypto
