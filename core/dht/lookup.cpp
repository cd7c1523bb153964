// SPDX-License-Identifier: MIT
#include "core/dht/lookup.hpp"

#include <algorithm>
#include <functional>

namespace waggle::dht {
namespace {

constexpr auto kNearestOnTop = std::greater<>{};  // std heaps put the greatest on top

}  // namespace

Lookup::Lookup(std::vector<Id> queries,
               std::vector<Contact> const& start,
               Id const& own,
               LookupOptions options)
    : options_(options), own_(own), unfinished_(queries.size()) {
  queries_.reserve(queries.size());
  for (auto const& target : queries) {
    Query query;
    query.target = target;
    queries_.push_back(std::move(query));
  }
  for (auto const& contact : start) {
    if (contact.id == own_) continue;
    Node const node = intern(contact);
    for (auto& query : queries_) offer(query, node);
  }
}

std::optional<Lookup::Ask> Lookup::next() {
  while (!done() && in_flight_ < options_.workers + extra_workers_) {
    auto const chosen = choose();
    if (!chosen) {
      if (in_flight_ > 0) return std::nullopt;
      for (std::size_t i = 0; i < queries_.size(); ++i) finish(i);
      return std::nullopt;
    }
    auto& query = queries_[*chosen];
    std::pop_heap(query.candidates.begin(), query.candidates.end(), kNearestOnTop);
    Place const place = query.candidates.back();
    query.candidates.pop_back();
    if (test(query.visited, place.node)) continue;
    if (asks_ >= kMaxAsks) {
      for (std::size_t i = 0; i < queries_.size(); ++i) finish(i);
      return std::nullopt;
    }
    Ask ask{nodes_[place.node], {*chosen}};
    if (options_.queries_per_call > 1) {
      std::vector<std::pair<Id, std::size_t>> others;
      for (std::size_t i = 0; i < queries_.size(); ++i)
        if (i != *chosen && !queries_[i].finished && !test(queries_[i].visited, place.node))
          others.emplace_back(distance(ask.peer.id, queries_[i].target), i);
      std::size_t const n = std::min(others.size(), options_.queries_per_call - 1);
      auto const middle = others.begin() + static_cast<std::ptrdiff_t>(n);
      std::partial_sort(others.begin(), middle, others.end());
      for (std::size_t i = 0; i < n; ++i) ask.queries.push_back(others[i].second);
    }
    for (auto const i : ask.queries) {
      ++queries_[i].active;
      mark(queries_[i].visited, place.node);
    }
    ++in_flight_;
    ++asks_;
    hops_ = std::max<std::size_t>(hops_, depth_[place.node]);
    return ask;
  }
  return std::nullopt;
}

void Lookup::answered(Ask const& ask, std::vector<std::vector<Contact>> const& neighbours) {
  release(ask);
  auto const depth = static_cast<std::uint16_t>(depth_[node_index_.at(ask.peer.id)] + 1);
  for (std::size_t i = 0; i < ask.queries.size() && i < neighbours.size(); ++i) {
    auto& query = queries_[ask.queries[i]];
    if (query.finished) continue;
    for (auto const& contact : neighbours[i]) {
      if (contact.id == own_) continue;
      if (!within_bound(query, distance(query.target, contact.id))) continue;
      std::size_t const before = nodes_.size();
      Node const node = intern(contact);
      if (nodes_.size() > before) depth_[node] = depth;
      offer(query, node);
    }
  }
}

void Lookup::failed(Ask const& ask) {
  release(ask);
  drop(ask.peer);
}

void Lookup::drop(Contact const& contact) {
  Node const node = node_index_.at(contact.id);
  for (auto& query : queries_) {
    mark(query.visited, node);
    auto const it = std::find_if(
        query.best.begin(), query.best.end(), [&](Place const& p) { return p.node == node; });
    if (it == query.best.end()) continue;
    query.best.erase(it);
    std::make_heap(query.best.begin(), query.best.end());
  }
}

void Lookup::finish(std::size_t query) {
  if (queries_[query].finished) return;
  queries_[query].finished = true;
  --unfinished_;
}

std::vector<Contact> Lookup::nearest(std::size_t query) const {
  auto places = queries_[query].best;
  std::sort(places.begin(), places.end());
  std::vector<Contact> out;
  out.reserve(places.size());
  for (auto const& place : places) out.push_back(nodes_[place.node]);
  return out;
}

bool Lookup::within_bound(Query const& query, Id const& distance) const {
  return query.best.size() < options_.beam_size || !nearer(query.best.front().distance, distance);
}

bool Lookup::has_candidate(Query const& query) const {
  return !query.candidates.empty() && within_bound(query, query.candidates.front().distance);
}

std::optional<std::size_t> Lookup::choose() const {
  // The query with the fewest workers, among those the one with the nearest candidate.
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    auto const& query = queries_[i];
    if (query.finished || !has_candidate(query)) continue;
    if (best) {
      auto const& other = queries_[*best];
      auto const mine = std::pair(query.active, query.candidates.front().distance);
      if (mine >= std::pair(other.active, other.candidates.front().distance)) continue;
    }
    best = i;
  }
  return best;
}

void Lookup::offer(Query& query, Node node) {
  if (test(query.known, node)) return;
  Place const place{distance(query.target, nodes_[node].id), node};
  if (!within_bound(query, place.distance)) return;
  // A node that failed elsewhere in this search is visited already: not worth a place.
  if (test(query.visited, node)) return;
  mark(query.known, node);
  query.candidates.push_back(place);
  std::push_heap(query.candidates.begin(), query.candidates.end(), kNearestOnTop);
  query.best.push_back(place);
  std::push_heap(query.best.begin(), query.best.end());
  if (query.best.size() <= options_.beam_size) return;
  std::pop_heap(query.best.begin(), query.best.end());
  query.best.pop_back();
}

void Lookup::release(Ask const& ask) {
  --in_flight_;
  for (auto const i : ask.queries) --queries_[i].active;
}

Lookup::Node Lookup::intern(Contact const& contact) {
  auto const [it, fresh] = node_index_.try_emplace(contact.id, static_cast<Node>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(contact);
    depth_.push_back(0);
  }
  return it->second;
}

bool Lookup::test(std::vector<bool> const& set, Node node) {
  return node < set.size() && set[node];
}

void Lookup::mark(std::vector<bool>& set, Node node) {
  if (set.size() <= node) set.resize(node + 1);
  set[node] = true;
}

}  // namespace waggle::dht
