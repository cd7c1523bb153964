// SPDX-License-Identifier: MIT
// The contribution ledger: a row a round, and its sums.
#include <algorithm>
#include <utility>

#include "core/store/detail/state.hpp"

namespace waggle::store {
namespace {

using detail::clamped;
using detail::Database;
using detail::finite;

Status insert(Database& database, LedgerRow const& row) {
  WAGGLE_TRY(
      auto put,
      database.prepare(
          "INSERT INTO ledger (time, operator, prefix, epoch, samples, gigaflop, bytes_sent, "
          "bytes_received, group_size, outcome, loss, seconds, kwh) VALUES "
          "(?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  put.bind(finite(row.time))
      .bind(ByteView(row.operator_id))
      .bind(std::string_view(row.prefix))
      .bind(row.epoch);
  put.bind(clamped(row.samples))
      .bind(finite(row.gigaflop))
      .bind(clamped(row.bytes_sent))
      .bind(clamped(row.bytes_received));
  // SQLite turns NaN into NULL, which is what a loss that is none should be.
  put.bind(row.group_size)
      .bind(std::string_view(row.outcome))
      .bind(row.loss)
      .bind(finite(row.seconds))
      .bind(finite(row.kwh));
  return put.run();
}

}  // namespace

Status Store::add_ledger(std::span<LedgerRow const> rows) {
  WAGGLE_TRY_STATUS(state_->database.exec("BEGIN IMMEDIATE"));
  Status added = ok();
  for (auto const& row : rows)
    if (added) added = insert(state_->database, row);
  if (added) added = state_->database.exec("COMMIT");
  if (!added) (void)state_->database.exec("ROLLBACK");
  return added;
}

Result<LedgerSum> Store::ledger_sum(std::string_view prefix, double since) const {
  // total() and not sum(): a stranger's numbers may have passed what an int64 sum holds, and sum()
  // then fails.
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(
          "SELECT count(*), total(samples), total(gigaflop), total(seconds), total(bytes_sent), "
          "total(bytes_received), total(kwh) FROM ledger WHERE time >= ?1 AND (?2 = '' OR prefix = "
          "?2)"));
  get.bind(since).bind(prefix);
  WAGGLE_TRY(bool const row, get.step());
  LedgerSum sum;
  if (!row) return sum;
  auto whole = [&get](int column) {
    double const value = get.real(column);
    return value >= 9.2e18 ? std::uint64_t{1} << 63
                           : static_cast<std::uint64_t>(std::max(value, 0.0));
  };
  sum.rounds = static_cast<std::uint64_t>(get.integer(0));
  sum.samples = whole(1);
  sum.gigaflop = get.real(2);
  sum.seconds = get.real(3);
  sum.bytes_sent = whole(4);
  sum.bytes_received = whole(5);
  sum.kwh = get.real(6);
  return sum;
}

Result<std::vector<LedgerSpan>> Store::ledger_spans(double since,
                                                    double width,
                                                    std::size_t limit) const {
  WAGGLE_TRY(auto get,
             state_->database.prepare(
                 "SELECT CAST((time - ?1) / ?2 AS INTEGER) AS span, total(samples), "
                 "total(seconds), total(kwh) FROM ledger WHERE time >= ?1 GROUP BY span "
                 "ORDER BY span LIMIT ?3"));
  get.bind(since).bind(std::max(width, 1.0)).bind(clamped(limit));
  std::vector<LedgerSpan> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    LedgerSpan span;
    span.begin = since + std::max(width, 1.0) * static_cast<double>(get.integer(0));
    span.samples = static_cast<std::uint64_t>(std::clamp(get.real(1), 0.0, 9e18));
    span.seconds = get.real(2);
    span.kwh = get.real(3);
    all.push_back(span);
  }
}

Result<std::optional<double>> Store::ledger_begin() const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare("SELECT time FROM ledger WHERE time > 0 ORDER BY time LIMIT 1"));
  WAGGLE_TRY(bool const row, get.step());
  if (!row) return std::optional<double>();
  return std::optional<double>(get.real(0));
}

Result<std::vector<LedgerRow>> Store::ledger(std::string_view prefix,
                                             double since,
                                             std::size_t limit) const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(
          "SELECT time, operator, prefix, epoch, samples, gigaflop, bytes_sent, bytes_received, "
          "group_size, outcome, loss, seconds, kwh FROM ledger WHERE time >= ?1 AND "
          "(?2 = '' OR prefix = ?2) ORDER BY time DESC, id DESC LIMIT ?3"));
  get.bind(since).bind(prefix).bind(clamped(limit));
  std::vector<LedgerRow> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    LedgerRow entry;
    entry.time = get.real(0);
    entry.operator_id = get.blob(1);
    entry.prefix = get.text(2);
    entry.epoch = get.integer(3);
    entry.samples = static_cast<std::uint64_t>(get.integer(4));
    entry.gigaflop = get.real(5);
    entry.bytes_sent = static_cast<std::uint64_t>(get.integer(6));
    entry.bytes_received = static_cast<std::uint64_t>(get.integer(7));
    entry.group_size = static_cast<std::uint32_t>(get.integer(8));
    entry.outcome = get.text(9);
    entry.loss = get.real(10);
    entry.seconds = get.real(11);
    entry.kwh = get.real(12);
    all.push_back(std::move(entry));
  }
}

}  // namespace waggle::store
