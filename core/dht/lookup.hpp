// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/dht/routing_table.hpp"

namespace waggle::dht {

struct LookupOptions {
  std::size_t beam_size = 20;
  std::size_t workers = 4;           ///< questions in flight
  std::size_t queries_per_call = 1;  ///< queries packed into one question
};

/// Beam search for the nodes nearest to each of several query ids, as a pure machine:
///
///     while (!lookup.done()) {
///       while (auto ask = lookup.next()) send(*ask);     // "ask this peer these queries"
///       wait for an answer; lookup.answered(...) or lookup.failed(...);
///     }
///
/// Departure from hivemind: a peer that failed leaves the results, and what was beyond the bound
/// that it set may be found again. Cost: O(log n) a contact and query; at most kMaxAsks questions.
/// Source: spec/hivemind-dht.md section 14.2.
class Lookup {
 public:
  /// A question that is due. `queries` are indices into the constructor's list, the chosen one
  /// first.
  struct Ask {
    Contact peer;
    std::vector<std::size_t> queries;
  };

  /// `start`: contacts to begin with. `own` is never asked.
  Lookup(std::vector<Id> queries,
         std::vector<Contact> const& start,
         Id const& own,
         LookupOptions options);

  /// The next question; nothing while all workers are busy, while only answers can bring work, or
  /// when done.
  [[nodiscard]] std::optional<Ask> next();
  /// The answer to `ask`: neighbours for each of its queries, in its order.
  void answered(Ask const& ask, std::vector<std::vector<Contact>> const& neighbours);
  /// No answer, or a useless one.
  void failed(Ask const& ask);
  /// Takes a contact out of all results: it is not what it was said to be.
  void drop(Contact const& contact);
  /// Ends one query: its answer is good enough.
  void finish(std::size_t query);

  /// Questions that may be under way beyond `workers`: as many as hang without an answer.
  void set_extra_workers(std::size_t n) noexcept { extra_workers_ = n; }

  /// Whether every query has ended. Answers may still be under way; they are welcome but not
  /// needed.
  [[nodiscard]] bool done() const noexcept { return unfinished_ == 0; }

  /// The best found so far, nearest first: at most beam_size.
  [[nodiscard]] std::vector<Contact> nearest(std::size_t query) const;

  /// Peers asked so far.
  [[nodiscard]] std::size_t asked() const noexcept { return asks_; }

  /// Answers needed, one after the other, until the last question was sent: hops.
  [[nodiscard]] std::size_t hops() const noexcept { return hops_; }

  /// A search ends here however many nearer contacts are invented for it.
  static constexpr std::size_t kMaxAsks = 2000;

 private:
  using Node = std::uint32_t;  // index into nodes_

  struct Place {
    Id distance;
    Node node;

    friend bool operator<(Place const& a, Place const& b) noexcept {
      return nearer(a.distance, b.distance) || (a.distance == b.distance && a.node < b.node);
    }

    friend bool operator>(Place const& a, Place const& b) noexcept { return b < a; }
  };

  struct Query {
    Id target;
    bool finished = false;
    std::size_t active = 0;         // workers on it
    std::vector<Place> candidates;  // heap, nearest on top
    std::vector<Place> best;        // heap, farthest on top
    std::vector<bool> known;        // by node
    std::vector<bool> visited;      // by node
  };

  [[nodiscard]] bool within_bound(Query const& query, Id const& distance) const;
  [[nodiscard]] bool has_candidate(Query const& query) const;
  [[nodiscard]] std::optional<std::size_t> choose() const;
  void offer(Query& query, Node node);
  void release(Ask const& ask);
  [[nodiscard]] Node intern(Contact const& contact);
  [[nodiscard]] static bool test(std::vector<bool> const& set, Node node);
  static void mark(std::vector<bool>& set, Node node);

  LookupOptions options_;
  Id own_;
  std::vector<Contact> nodes_;
  std::vector<std::uint16_t> depth_;  // hops from the start, by node
  std::map<Id, Node>
      node_index_;  // ordered: strangers choose the ids, and could make a hash collide
  std::vector<Query> queries_;
  std::size_t unfinished_;
  std::size_t in_flight_ = 0;
  std::size_t extra_workers_ = 0;
  std::size_t asks_ = 0;
  std::size_t hops_ = 0;
};

}  // namespace waggle::dht
