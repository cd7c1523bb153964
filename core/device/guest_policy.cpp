// SPDX-License-Identifier: MIT
#include "core/device/guest_policy.hpp"

#include <cmath>
#include <utility>

#include "core/base/text.hpp"

namespace waggle::device {
namespace {

struct Patience {
  Duration before_rest;
  Duration before_going_on;
};

// By Cause. Shorter: a plug pulled and put back, or a compiler between two files, starts and stops
// the trainer for nothing.
constexpr std::array<Patience, kCauses> kPatience{{
    {seconds(0), seconds(30)},   // battery
    {seconds(0), seconds(10)},   // program
    {seconds(0), seconds(0)},    // in use: the idle time itself is the patience
    {seconds(0), seconds(0)},    // quiet hours: a clock does not flap
    {seconds(10), seconds(60)},  // heat
    {seconds(10), seconds(30)},  // load
    {seconds(0), seconds(30)},   // metered
    {seconds(0), seconds(0)},    // traffic: a day does not flap
}};
constexpr double kLowerLoad = 0.75;  // of the limit: below it, others have finished
constexpr double kCooler = 10;       // °C below the limit
constexpr std::string_view kOver = " (over; going on soon)";

std::string percent(double share) {
  return cat(static_cast<int>(std::lround(100 * share)), " %");
}

std::string used_ago(double idle_seconds) {
  if (idle_seconds < 60) return "you are using this computer";
  auto const minutes = static_cast<int>(idle_seconds / 60);
  return cat("this computer was used ", minutes, minutes == 1 ? " minute ago" : " minutes ago");
}

}  // namespace

GuestPolicy::GuestPolicy(GuestSettings settings) : settings_(std::move(settings)) {
}

void GuestPolicy::set(GuestSettings settings) {
  auto const afresh = [this](Cause cause, bool changed) {
    if (changed) rules_[static_cast<std::size_t>(cause)] = Rule{};
  };
  auto const& old = settings_;
  afresh(Cause::battery, old.on_battery != settings.on_battery);
  afresh(Cause::program, old.programs != settings.programs);
  afresh(Cause::in_use,
         old.idle_minutes != settings.idle_minutes ||
             old.gpu_idle_minutes != settings.gpu_idle_minutes);
  afresh(Cause::quiet_hours, old.quiet_hours != settings.quiet_hours);
  afresh(Cause::heat, old.temperature != settings.temperature);
  afresh(Cause::cpu_load, old.cpu_load != settings.cpu_load);
  afresh(Cause::metered, old.on_metered != settings.on_metered);
  afresh(Cause::traffic, old.daily_traffic != settings.daily_traffic);
  settings_ = std::move(settings);
}

GuestPolicy::Opinion GuestPolicy::opinion(Cause cause,
                                          Readings const& readings,
                                          LocalTime local) const {
  auto const if_rest = [](bool rest, std::string text) {
    return Opinion{rest ? Says::rest : Says::go, std::move(text)};
  };
  auto const by_limits = [](double value, double upper, double lower, std::string text) {
    return Opinion{value > upper    ? Says::rest
                   : value >= lower ? Says::between
                                    : Says::go,
                   std::move(text)};
  };
  switch (cause) {
    case Cause::battery: {
      auto const& power = readings.power;
      auto const left = power.percent ? cat(" (", *power.percent, " %)") : std::string();
      return if_rest(power.on_battery && !settings_.on_battery, cat("on battery", left));
    }
    case Cause::program:
      if (!readings.program || settings_.programs.empty()) return {};
      return {Says::rest, cat(*readings.program, " is running")};
    case Cause::in_use: {
      int const minutes = settings_.wanted_idle_minutes(readings.on_gpu);
      if (minutes <= 0) return {};
      if (readings.inhibitor) return {Says::rest, cat(*readings.inhibitor, " keeps the screen on")};
      if (!readings.idle_seconds) return {};
      double const idle = *readings.idle_seconds;
      return if_rest(idle < 60.0 * minutes, used_ago(idle));
    }
    case Cause::quiet_hours: {
      auto const left = minutes_left(settings_.quiet_hours, local);
      if (!left) return {};
      return {Says::rest, cat("quiet hours until ", clock_text(local.minute + *left))};
    }
    case Cause::heat: {
      if (settings_.temperature <= 0 || !readings.celsius) return {};
      double const limit = settings_.temperature;
      return by_limits(*readings.celsius,
                       limit,
                       limit - kCooler,
                       cat("the processor is hot (", std::lround(*readings.celsius), " °C)"));
    }
    case Cause::cpu_load: {
      if (settings_.cpu_load <= 0 || !readings.cpu_others) return {};
      double const limit = settings_.cpu_load / 100.0;
      return by_limits(
          *readings.cpu_others,
          limit,
          kLowerLoad * limit,
          cat("other programs use ", percent(*readings.cpu_others), " of the processor"));
    }
    case Cause::metered:
      return if_rest(readings.metered.value_or(false) && !settings_.on_metered,
                     "this network is metered");
    case Cause::traffic: {
      if (settings_.daily_traffic == 0 || !readings.traffic_today) return {};
      auto const spent = *readings.traffic_today >> 20;
      return if_rest(spent >= settings_.daily_traffic,
                     cat("today's network traffic is spent: ",
                         spent,
                         " / ",
                         settings_.daily_traffic,
                         " MiB, until midnight"));
    }
  }
  return {};
}

void GuestPolicy::step(Cause cause, Opinion opinion, TimePoint now) {
  auto& rule = rules_[static_cast<std::size_t>(cause)];
  auto const& patience = kPatience[static_cast<std::size_t>(cause)];
  bool const against = rule.holds ? opinion.says == Says::go : opinion.says == Says::rest;
  if (!against) {
    rule.other_since.reset();
  } else {
    if (!rule.other_since) rule.other_since = now;
    auto const wait = rule.holds ? patience.before_going_on : patience.before_rest;
    if (now - *rule.other_since >= wait) {
      rule.holds = !rule.holds;
      rule.other_since.reset();
    }
  }
  if (!rule.holds) {
    rule.overridden = false;
    rule.text.clear();
  } else if (opinion.says != Says::go) {
    rule.text = std::move(opinion.text);
  } else if (!rule.text.ends_with(kOver)) {
    rule.text += kOver;
  }
}

Verdict GuestPolicy::decide(Readings const& readings, LocalTime local, TimePoint now) {
  Verdict verdict;
  for (std::size_t i = 0; i < kCauses; ++i) {
    auto const cause = static_cast<Cause>(i);
    step(cause, opinion(cause, readings, local), now);
    auto const& rule = rules_[i];
    if (!rule.holds) continue;
    verdict.causes.push_back(rule.text);
    if (rule.overridden) {
      verdict.overridden = true;
    } else if (verdict.run) {
      verdict.run = false;
      verdict.reason = rule.text;
    }
  }
  return verdict;
}

void GuestPolicy::run_anyway() noexcept {
  for (auto& rule : rules_) rule.overridden = rule.holds;
}

void GuestPolicy::forget_override() noexcept {
  for (auto& rule : rules_) rule.overridden = false;
}

}  // namespace waggle::device
