// SPDX-License-Identifier: MIT
#include "core/node/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/bytes.hpp"
#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/node/options.hpp"
#include "core/node/release/notice.hpp"
#include "core/node/settings/config.hpp"
#include "core/node/settings/detail/toml_edit.hpp"
#include "core/task/strict_toml.hpp"

namespace waggle::node {
namespace {

constexpr std::array kSettings{
    Setting{"power", "\"medium\"", true, "light medium full"},
    Setting{"threads", "0", true},
    Setting{"cpu_share", "100", true},
    Setting{"disk_gib", "20", true},
    Setting{"max_memory", "0", true},
    Setting{"gpu_duty", "100", true},
    Setting{"max_gpu_memory", "0", true},
    Setting{"gpu_power_cap", "0", true},
    Setting{"max_download", "0", true},
    Setting{"max_upload", "0", true},
    Setting{"daily_traffic", "0", true},
    Setting{"keep_awake", "false", true},
    Setting{"guest.on_battery", "false", true},
    Setting{"guest.on_metered", "false", true},
    Setting{"guest.idle_minutes", "0", true},
    Setting{"guest.gpu_idle_minutes", "3", true},
    Setting{"guest.cpu_load", "0", true},
    Setting{"guest.temperature", "0", true},
    Setting{"guest.quiet_hours", "[]", true},
    Setting{"guest.programs", "[]", true},
    Setting{"peer", "[]", false},
    Setting{"host", "\"0.0.0.0\"", false},
    Setting{"port", "0", false},
    Setting{"lan", "true", false},
    Setting{"client", "false", false},
    Setting{"api_port", "0", false},
    Setting{"api_host", "\"127.0.0.1\"", false},
    Setting{"api_names", "[]", false},
    Setting{"team", "\"\"", true},
    Setting{"trainer", "\"\"", false},
    Setting{"window.theme", "\"dark\"", false, "dark light"},
    Setting{"window.language", "\"\"", false, "en zh"},
    Setting{"window.size", "1.0", false},
    Setting{"window.first_run_done", "false", false},
    Setting{"window.close_to_tray", "true", false},
    Setting{"update_notice", "false", true},
};

// The last one only where there is somebody who could give notice.
std::span<Setting const> settings() {
  std::span<Setting const> const all(kSettings);
  return release_key() ? all : all.first(all.size() - 1);
}

constexpr std::string_view kFileName = "waggle.toml";

Error wrong(std::string why) {
  return Error{Errc::invalid, std::move(why)};
}

std::string literal_of(toml::node const& node) {
  if (auto const flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (auto const whole = node.value_exact<std::int64_t>()) return cat(*whole);
  if (auto const text = node.value_exact<std::string>()) return toml_text(*text);
  if (auto const number = node.value_exact<double>()) {
    std::array<char, 32> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr;
    std::string out(digits.data(), end);
    return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
  }
  std::string out = "[";
  if (auto const* const list = node.as_array())
    for (auto const& entry : *list) out += cat(out.size() > 1 ? ", " : "", literal_of(entry));
  return out + "]";
}

void gather(toml::table const& table, std::string const& before, Literals& into) {
  for (auto const& [key, node] : table) {
    auto const name = before + std::string(key.str());
    if (auto const* const inner = node.as_table())
      gather(*inner, name + ".", into);
    else
      into[name] = literal_of(node);
  }
}

// One value, however it was written; nothing if the text is none, or more than one.
std::optional<std::string> as_literal(std::string_view value, char kind) {
  try {
    auto const table = toml::parse(cat("value = ", value, "\n"), std::string_view{});
    auto const* const node = table.get("value");
    if (table.size() != 1 || node == nullptr || node->is_table()) return {};
    if ((kind == '"' && !node->is_string()) || (kind == '[' && !node->is_array())) return {};
    return literal_of(*node);
  } catch (std::exception const&) {
    return {};
  }
}

// A person writes `set power full`, not `set power '"full"'`; and names one program, not a list.
Result<std::string> to_literal(Setting const& setting, std::string_view value) {
  char const kind = setting.standard.front();
  if (auto literal = as_literal(value, kind)) return *std::move(literal);
  bool const broken = value.front() == '"' || value.front() == '\'' || value.front() == '[';
  if (kind == '"' && !broken) return toml_text(value);
  if (kind == '[' && value.front() != '[') {
    auto const one = as_literal(value, '"');
    if (one || !broken) return cat("[", one ? *one : toml_text(value), "]");
  }
  return wrong(cat(setting.name, ": ", value, " is no value; as an example, ", setting.standard));
}

// "FILE:2:9: why" without the place: the text was never a person's.
std::string reason_of(std::string_view trouble, std::string_view file) {
  if (!trouble.starts_with(file)) return std::string(trouble);
  auto const rest = trouble.substr(file.size());
  auto const at = rest.find(": ");
  return std::string(at == std::string_view::npos ? rest : rest.substr(at + 2));
}

std::string names() {
  std::string all;
  for (auto const& setting : settings()) all += cat(all.empty() ? "" : ", ", setting.name);
  return all;
}

// Where nobody else can come nobody is looked for, unless a person says so.
void lan_by_host(std::vector<SettingView>& all) {
  auto const lan = std::ranges::find(all, "lan", &SettingView::name);
  auto const host = std::ranges::find(all, "host", &SettingView::name);
  if (lan->from != "default") return;
  auto const text = std::string_view(host->value);
  if (text.size() < 2 || !is_loopback(std::string(text.substr(1, text.size() - 2)))) return;
  lan->value = "false";
  lan->why = "host is this machine's own loopback";
}

/// Held while the file is read and replaced. The folder itself is what is locked: no file of its
/// own is left behind.
Result<Fd> lock(std::filesystem::path const& folder) {
  Fd held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held && ::flock(held.get(), LOCK_EX) == 0) return held;
  return Error{Errc::io, cat("cannot lock ", folder.string())};
}

}  // namespace

std::span<Setting const> all_settings() {
  return settings();
}

std::vector<std::string> values_of(Setting const& setting) {
  if (setting.standard == "true" || setting.standard == "false") return {"true", "false"};
  std::vector<std::string> all;
  for (auto rest = setting.words; !rest.empty();) {
    auto const end = std::min(rest.find(' '), rest.size());
    all.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

Setting const* find_setting(std::string_view name) {
  auto const all = settings();
  auto const at = std::ranges::find(all, name, &Setting::name);
  return at == all.end() ? nullptr : &*at;
}

std::string toml_text(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Result<Literals> literals_of(std::string_view toml, std::string_view file) {
  auto const config = parse_config(toml, file);
  if (!config.trouble.empty()) return wrong(config.trouble);
  Literals all;
  try {
    gather(toml::parse(toml, std::string_view{}), "", all);
  } catch (std::exception const& failure) {
    return wrong(failure.what());
  }
  return all;
}

Result<Literals> read_literals(std::filesystem::path const& data_dir) {
  auto const path = data_dir / kFileName;
  auto const text = read_file(path, kMaxConfigBytes);
  if (text) return literals_of(as_text(*text), path.string());
  if (text.error().code == Errc::not_found) return Literals{};
  return text.error();
}

Result<std::string> with_setting(std::string_view toml,
                                 std::string_view file,
                                 std::string_view name,
                                 std::string_view value) {
  auto const* const setting = find_setting(name);
  if (setting == nullptr)
    return wrong(cat("there is no setting \"", name, "\"; there are ", names()));
  WAGGLE_TRY(auto wanted, literals_of(toml, file));
  auto const begin = value.find_first_not_of(" \t\r\n");
  value = begin == std::string_view::npos ? std::string_view{} : value.substr(begin);
  value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);

  std::string edited;
  if (value.empty()) {
    edited = detail::without_key(toml, name, setting->standard);
  } else {
    WAGGLE_TRY(auto const literal, to_literal(*setting, value));
    edited = detail::with_key(toml, name, literal);
  }
  auto const after = literals_of(edited, file);
  if (!after) return wrong(reason_of(after.error().detail, file));
  if (edited.size() > kMaxConfigBytes)
    return wrong(cat(file, " would have ", edited.size(), " bytes, at most ", kMaxConfigBytes));
  // Whatever the editor above thinks, nothing but this one may be another.
  auto others = *after;
  others.erase(std::string(name));
  wanted.erase(std::string(name));
  if (others != wanted)
    return wrong(cat(file, " cannot be changed without harm; please edit it by hand"));
  return edited;
}

Status change_setting(std::filesystem::path const& data_dir,
                      std::string_view name,
                      std::string_view value) {
  std::error_code ec;
  if (std::filesystem::create_directories(data_dir, ec))
    std::filesystem::permissions(data_dir, std::filesystem::perms::owner_all, ec);
  WAGGLE_TRY(auto const held, lock(data_dir));
  auto path = data_dir / kFileName;
  // A link is followed: what it points to is replaced, and not the link.
  if (std::filesystem::is_symlink(path, ec)) path = std::filesystem::weakly_canonical(path, ec);
  auto const text = read_file(path, kMaxConfigBytes);
  if (!text && text.error().code != Errc::not_found) return text.error();
  auto const before = text ? as_text(*text) : std::string_view{};
  WAGGLE_TRY(auto const after, with_setting(before, path.string(), name, value));
  if (text && after == before) return ok();

  struct stat file {};

  bool const open_to_others = text && ::stat(path.c_str(), &file) == 0 && (file.st_mode & 077) != 0;
  WAGGLE_TRY_STATUS(
      write_file(path, as_bytes(after), open_to_others ? FileMode::shared : FileMode::secret));

  // Written by root into somebody's data directory, it must stay readable to them.
  struct stat folder {};

  if (::geteuid() == 0 && ::stat(data_dir.c_str(), &folder) == 0 && folder.st_uid != 0 &&
      ::lchown(path.c_str(), folder.st_uid, folder.st_gid) != 0)
    return Error{Errc::io, cat("cannot give ", path.string(), " to its folder's owner")};
  return ok();
}

std::vector<SettingView> list_settings(Literals const& file, Literals const& flags) {
  std::vector<SettingView> all;
  for (auto const& setting : settings()) {
    SettingView view;
    view.name = setting.name;
    view.standard = setting.standard;
    view.live = setting.live;
    view.value = view.standard;
    view.from = "default";
    if (auto const said = file.find(setting.name); said != file.end()) {
      view.value = said->second;
      view.from = "file";
    }
    if (auto const said = flags.find(setting.name); said != flags.end()) {
      view.value = said->second;
      view.from = "flag";
    }
    all.push_back(std::move(view));
  }
  lan_by_host(all);
  return all;
}

}  // namespace waggle::node
