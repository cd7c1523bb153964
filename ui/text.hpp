// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace waggle::ui {

enum class Language : std::uint8_t { english, chinese };

/// Every text of the window; catalogue.cpp holds the words.
enum class Text : std::uint16_t {
  // navigation
  home,
  swarm,
  learning,
  projects,
  log,
  settings,
  // states of a task, in the order of kStates in text.cpp
  state_finding,
  state_fetching,
  state_starting,
  state_training,
  state_paused,
  state_finishing,
  state_done,
  state_failed,
  state_waiting,
  state_choice,
  // phases: what the optimizer does
  phase_training,
  phase_averaging_gradients,
  phase_averaging_state,
  phase_last_state,
  phase_leaving,
  phase_loading_state,
  phase_no_state_yet,
  phase_looking,
  phase_paused,
  phase_stepping,
  phase_waiting,
  // actions
  pause,
  resume,
  finish,
  finish_hint,
  measure,
  measure_hint,
  join,
  copy_link,
  copy,
  copied,
  quit_window,
  // home
  no_node_title,
  no_node_text,
  no_node_join_text,
  no_task_title,
  no_task_text,
  starting_title,
  paused_by_you,
  epoch,
  epoch_of,
  epoch_samples,
  time_left,
  time_left_short,
  any_moment,
  you_compute,
  swarm_computes,
  samples_per_second,
  volunteers,
  volunteers_training,
  your_share,
  your_share_hint,
  contribution,
  today,
  week,
  all_time,
  samples,
  rounds,
  credits,
  credits_hint,
  hours,
  speed_chart,
  you,
  everyone,
  fetching_data,
  fetched_of,
  notices,
  // swarm
  connections,
  direct,
  relayed,
  direct_relayed,
  download,
  upload,
  total,
  traffic,
  in,
  out,
  last_round,
  round_averaged,
  round_local,
  round_alone,
  round_none,
  round_none_text,
  round_took,
  round_sent,
  round_received,
  group_of,
  peers,
  peer,
  program,
  path,
  round_trip,
  received,
  sent,
  connected,
  note,
  in_group,
  ignored,
  ignored_title,
  no_peers,
  inbound,
  outbound,
  // learning
  loss_now,
  loss_hint,
  test_loss,
  test_accuracy,
  learning_rate,
  loss_chart,
  accuracy_chart,
  over_epochs,
  no_figures_yet,
  no_figures_text,
  training_loss,
  test_loss_series,
  behind_swarm,
  swarm_loss_series,
  swarm_loss_hint,
  accuracy_hint,
  examples_title,
  examples_of_epoch,
  examples_wait,
  examples_paused,
  examples_text_title,
  example_is,
  example_says,
  // projects
  join_title,
  join_hint,
  join_text,
  join_later,
  link_is_wrong,
  operator_key,
  prefix,
  link,
  project_joined,
  look,
  link_text,
  link_looking,
  link_failed,
  link_choice,
  choose_operator,
  found_projects,
  found_none,
  from_link,
  from_directory,
  from_lan,
  about_model,
  about_parameters,
  data_licence,
  to_download,
  nothing_to_download,
  it_needs,
  needs_memory_disk,
  needs_disk,
  machine_fits,
  machine_lacks,
  train_this,
  train_this_hint,
  leave,
  leave_hint,
  leave_sure,
  leave_text,
  stay,
  dismiss,
  no_projects,
  // log
  search,
  level_all,
  level_warnings,
  log_empty,
  log_no_match,
  log_since,
  event_state,
  event_state_why,
  event_round_averaged,
  event_round_alone,
  event_peer_joined,
  event_peer_left,
  event_accuracy,
  event_attached,
  event_lost,
  // settings
  appearance,
  theme,
  dark,
  light,
  language,
  size,
  this_node,
  version,
  process,
  uptime,
  peer_id,
  addresses,
  clock_offset,
  clock_offset_value,
  dht,
  dht_value,
  node_is_remote,
  node_is_own,
  kept_until_close,
  // units and small words
  seconds_short,
  epochs_axis,
  minutes_ago,
  now,
  loading_fonts_missing,
  // the tray
  tray_open,
  tray_quit,
  tray_nothing,
  tray_goes_on,
  tray_goes_on_text,
  count_,  ///< how many there are; no text
};

inline constexpr std::size_t kTextCount = static_cast<std::size_t>(Text::count_);

/// One row of the catalogue.
struct Entry {
  Text key;
  char const* english;
  char const* chinese;
};

[[nodiscard]] std::span<Entry const> catalogue();

/// The words of a key, static. Cost: O(1).
[[nodiscard]] char const* tr(Text key, Language language);

/// Puts `values` for the {}s of a text, in order; those left over are dropped.
[[nodiscard]] std::string fill(std::string_view pattern,
                               std::initializer_list<std::string_view> values);

[[nodiscard]] inline std::string fill(Text key,
                                      Language language,
                                      std::initializer_list<std::string_view> values) {
  return fill(tr(key, language), values);
}

/// A node's own words (a task's state, the optimizer's phase, a reason) as a key, where there is
/// one.
[[nodiscard]] std::optional<Text> state_text(std::string_view state);
[[nodiscard]] std::optional<Text> phase_text(std::string_view phase);
/// A task's state in the window's words, as a person calls it ("Training").
[[nodiscard]] std::string state_words(std::string_view state, Language language);
/// A phase, a reason or a state in the window's words; itself where we have none.
[[nodiscard]] std::string translated(std::string_view words, Language language);

/// The language of a locale's name ("zh_CN.UTF-8"); English where we have no other.
[[nodiscard]] Language language_of_locale(std::string_view locale);

}  // namespace waggle::ui
