// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/bytes.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/release/publisher.hpp"

#include "app/drive.hpp"

namespace waggle::app {
namespace {

struct Flags {
  NodeFlags node;
  std::filesystem::path key;
  bool make_key = false;
  node::ReleaseNotice notice;
};

int fail_as(Common const& common, Error const& error) {
  bool const usage = error.code == Errc::invalid || error.code == Errc::too_large;
  return fail(common, error, usage ? kUsage : kFailed);
}

// What CMake is to be given.
int show_key(Common const& common, crypto::Identity const& key) {
  auto const id = crypto::to_text(key.peer_id());
  auto const hex = to_hex(key.public_key().data());
  if (common.json)
    std::printf("%s\n",
                nlohmann::json({{"ok", true}, {"release_key", id}, {"hex", hex}}).dump().c_str());
  else
    std::printf("build with -DWAGGLE_RELEASE_KEY=%s\n", id.c_str());
  return kDone;
}

int publish(Common const& common, Flags const& flags) {
  if (flags.make_key)
    if (auto const made = crypto::Identity::load_or_create(flags.key); !made)
      return fail_as(common, made.error());
  auto const key = node::read_release_key(flags.key);
  if (!key) return fail_as(common, key.error());
  if (flags.notice.version.empty() && flags.notice.text.empty()) return show_key(common, *key);
  if (auto const good = flags.notice.check(); !good) return fail_as(common, good.error());
  auto options = options_of(common, flags.node);
  if (!options) return fail(common, options.error(), kUsage);
  auto const done = node::publish_notice(*std::move(options), *key, flags.notice);
  if (!done) return fail_as(common, done.error());
  if (common.json)
    std::printf("%s\n",
                nlohmann::json({{"ok", true},
                                {"version", flags.notice.version},
                                {"release_key", crypto::to_text(key->peer_id())}})
                    .dump()
                    .c_str());
  else
    std::printf("published: Waggle %s, for builds with the release key %s\n",
                flags.notice.version.c_str(),
                crypto::to_text(key->peer_id()).c_str());
  return kDone;
}

}  // namespace

void add_release_notice(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "release-notice", "For who builds Waggle: sign and publish that a newer version is there");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command
      ->add_option("--key",
                   flags->key,
                   "The file of the release key; without --version: tell what to build with")
      ->required();
  command->add_flag("--make-key", flags->make_key, "Make the key if there is no such file");
  auto* const version =
      command->add_option("--version",
                          flags->notice.version,
                          "The newer version, as in 1.10.2; only higher ones count");
  auto* const text = command->add_option(
      "--text", flags->notice.text, "What to say of it: one line, no address of the web");
  version->needs(text);
  text->needs(version);
  add_node_flags(*command, flags->node);
  add_examples(*command,
               "  waggle release-notice --key release.key --make-key\n"
               "  waggle release-notice --key release.key --version 0.2.0 --text 'Faster rounds.' "
               "--peer /ip4/…/tcp/…/p2p/…\n");
  command->callback(
      [&common, &chosen, flags] { chosen = [&common, flags] { return publish(common, *flags); }; });
}

}  // namespace waggle::app
