// SPDX-License-Identifier: MIT
#include "core/node/report/report.hpp"

#include <cstdlib>
#include <initializer_list>

#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/device/machine.hpp"
#include "core/node/api/api.hpp"
#include "core/node/doctor.hpp"
#include "core/node/keys.hpp"
#include "core/node/report/log_lines.hpp"
#include "core/node/report/redact.hpp"
#include "core/node/settings/config.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kLogBytes = 1u << 20;  // the last so many
constexpr std::uint64_t kMaxSmallFile = 64u << 10;

constexpr char const* kReadMe =
    "A report by `waggle report`, for whoever looks into a bug.\n"
    "\n"
    "Look at every file before you send it: you decide what leaves this machine. IP addresses,\n"
    "PeerIDs, your user and machine name, your home folder, keys, tokens and e-mail addresses "
    "were\n"
    "taken out by rule; the same stand-in (\"<peer 2>\") is the same thing everywhere. What a "
    "rule\n"
    "cannot know, such as names of your own in a task's title, is still there.\n"
    "\n";

std::string text_of(std::filesystem::path const& path) {
  auto const content = read_file(path, kMaxSmallFile);
  return content ? to_string(*content) : std::string();
}

// Names too common to tell anything, and whose loss would make the report unreadable.
bool tells_nothing(std::string const& name) {
  for (char const* const common :
       {"root", "waggle", "localhost", "debian", "user", "home", "nobody"})
    if (name == common) return true;
  return name.size() < 2;
}

void hide_person(Redactor& redact) {
  std::vector<std::string> homes;
  std::vector<std::string> names;
  for (char const* const variable : {"HOME", "XDG_DATA_HOME"})
    if (char const* const value = std::getenv(variable)) homes.emplace_back(value);
  for (char const* const variable : {"USER", "LOGNAME", "SUDO_USER"})
    if (char const* const value = std::getenv(variable)) names.emplace_back(value);
  if (auto const* const entry = ::getpwuid(::getuid())) {
    homes.emplace_back(entry->pw_dir);
    names.emplace_back(entry->pw_name);
    // The full name, up to the first comma of the comment field.
    std::string const full = entry->pw_gecos == nullptr ? "" : entry->pw_gecos;
    redact.hide(full.substr(0, full.find(',')), "<name>");
  }
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0 && !tells_nothing(host)) {
    std::string const whole = host;
    redact.hide(whole, "<host>");
    if (auto const first = whole.substr(0, whole.find('.')); !tells_nothing(first))
      redact.hide(first, "<host>");
  }
  for (auto const& home : homes) {
    if (home.size() < 2) continue;
    redact.hide(home, "<home>");
    names.push_back(std::filesystem::path(home).filename().string());
  }
  for (auto const& name : names)
    if (!tells_nothing(name)) redact.hide(name, "<user>");
}

void hide_own(Redactor& redact, std::filesystem::path const& data_dir) {
  redact.hide(data_dir.string(), "<data dir>");
  auto token = text_of(data_dir / "api.token");
  while (!token.empty() && token.back() == '\n') token.pop_back();
  redact.hide(token, "<token>");
  if (auto const keys = list_keys(data_dir))
    for (auto const& key : *keys)
      redact.hide(key.peer_id,
                  key.name == "identity" ? "<own peer>" : cat("<operator ", key.name, '>'));
}

std::string versions(Options const& options) {
  std::string out = cat("waggle ", options.version, "\nglibc ", ::gnu_get_libc_version(), '\n');
  utsname system{};
  // Not its nodename: that is the machine's name.
  if (::uname(&system) == 0)
    out += cat(system.sysname, ' ', system.release, ' ', system.machine, '\n');
  auto const release = text_of("/etc/os-release");
  auto const at = release.find("PRETTY_NAME=");
  if (at != std::string::npos) out += cat(release.substr(at, release.find('\n', at) - at), '\n');
  out += cat("cores ", device::cores(), '\n');
  if (auto const memory = device::memory()) out += cat("memory ", memory->total >> 20, " MiB\n");
  return out;
}

std::string findings(Options const& options) {
  constexpr char const* kGrades[] = {"good", "warning", "bad"};
  std::string out;
  for (auto const& finding : examine(options))
    out += cat(
        kGrades[static_cast<int>(finding.grade)], "\t", finding.what, "\t", finding.detail, "\n");
  return out;
}

std::string indented(std::string const& json) {
  auto const parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return json;
  return parsed.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string last_lines(std::filesystem::path const& data_dir) {
  std::string out;
  LogReader reader(data_dir / "logs");
  auto const read = reader.read([&](log::Line const& line) {
    out += format_log_line(line);
    out += '\n';
    if (out.size() > 2 * kLogBytes) out.erase(0, out.size() - kLogBytes);
  });
  if (!read) return cat(read.error().detail, "\n");
  if (out.size() > kLogBytes) out.erase(0, out.size() - kLogBytes);
  return out;
}

}  // namespace

std::vector<ArchiveFile> collect_report(Options const& options) {
  Redactor redact;
  hide_person(redact);
  hide_own(redact, options.data_dir);
  auto const socket = options.data_dir / "api.sock";
  auto const asked = [&](char const* path) {
    auto body = api_get(socket, path);
    return body ? *std::move(body) : cat(body.error().detail, "\n");
  };
  auto toml = text_of(options.data_dir / "waggle.toml");
  if (toml.empty()) toml = "# there is none, or it is empty or too large\n";
  std::vector<ArchiveFile> files{{"versions.txt", versions(options)},
                                 {"doctor.txt", findings(options)},
                                 {"waggle.toml", std::move(toml)},
                                 {"snapshot.json", indented(asked("/v1/snapshot"))},
                                 {"metrics.txt", asked("/metrics")},
                                 {"waggle.log", last_lines(options.data_dir)}};
  std::string list = kReadMe;
  for (auto& file : files) {
    file.content = redact(file.content);
    list += cat("  ", file.name, ", ", file.content.size(), " bytes\n");
    file.name = "waggle-report/" + file.name;
  }
  files.insert(files.begin(), {"waggle-report/README.txt", std::move(list)});
  return files;
}

Status write_report(std::vector<ArchiveFile> const& files,
                    std::filesystem::path const& to,
                    std::uint64_t time) {
  if (!to.string().ends_with(".tar.gz") && to.extension() != ".tgz")
    return Error{Errc::invalid, cat(to.string(), ": a report's file ends in .tar.gz")};
  std::error_code ec;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, ec)))
    return Error{Errc::refused, cat(to.string(), " is there already")};
  WAGGLE_TRY(auto const packed, gzip(tar(files, time)));
  return write_file(to, as_bytes(packed), FileMode::secret);
}

}  // namespace waggle::node
