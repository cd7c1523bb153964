// SPDX-License-Identifier: MIT
// minimise xi  subject to  sum w >= 1,  0 <= w_i <= 1,  (n-2)/b_i w_i + 1/b_i <= xi.
//
// The optimum is rarely unique: xi never falls below 1/b_min. What members must agree on is
// therefore the path of the solver that hivemind calls: a homogeneous self-dual interior-point
// method with predictor and corrector (Andersen and Andersen, 2000), from the all-ones point, with
// step factor 0.99995 and tolerance 1e-8. Source: spec/hivemind-averaging.md section 3.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/averaging/load_balance.hpp"
#include "core/base/assert.hpp"

namespace waggle::averaging {

namespace {

using Vector = std::vector<double>;

constexpr double kTolerance = 1e-8;
constexpr double kStepFactor = 0.99995;
constexpr int kMaxIterations = 1000;

struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Vector cells;

  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), cells(r * c) {}

  double& operator()(std::size_t r, std::size_t c) { return cells[r * columns + c]; }

  double operator()(std::size_t r, std::size_t c) const { return cells[r * columns + c]; }
};

double dot(Vector const& a, Vector const& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(Vector const& a) {
  return std::sqrt(dot(a, a));
}

Vector times(Matrix const& a, Vector const& x) {
  Vector out(a.rows);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.columns; ++c) out[r] += a(r, c) * x[c];
  return out;
}

Vector transposed_times(Matrix const& a, Vector const& y) {
  Vector out(a.columns);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.columns; ++c) out[c] += a(r, c) * y[r];
  return out;
}

// In place; false if `m` is not positive definite any more (the optimum is reached, or the input is
// absurd).
bool cholesky(Matrix& m) {
  for (std::size_t j = 0; j < m.rows; ++j) {
    for (std::size_t i = j; i < m.rows; ++i) {
      double sum = m(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= m(i, k) * m(j, k);
      if (i == j) {
        if (!(sum > 0)) return false;
        m(j, j) = std::sqrt(sum);
      } else {
        m(i, j) = sum / m(j, j);
      }
    }
  }
  return true;
}

Vector cholesky_solve(Matrix const& l, Vector v) {
  for (std::size_t i = 0; i < l.rows; ++i) {
    for (std::size_t k = 0; k < i; ++k) v[i] -= l(i, k) * v[k];
    v[i] /= l(i, i);
  }
  for (std::size_t i = l.rows; i-- > 0;) {
    for (std::size_t k = i + 1; k < l.rows; ++k) v[i] -= l(k, i) * v[k];
    v[i] /= l(i, i);
  }
  return v;
}

struct Step {
  Vector x, y, z;
  double tau = 0;
  double kappa = 0;
};

class InteriorPoint {
 public:
  InteriorPoint(Matrix a, Vector b, Vector c)
      : a_(std::move(a)),
        b_(std::move(b)),
        c_(std::move(c)),
        at_{Vector(a_.columns, 1.0), Vector(a_.rows), Vector(a_.columns, 1.0), 1.0, 1.0} {}

  // x / tau, or nothing.
  std::optional<Vector> solve() {
    residuals();
    auto const primal0 = std::max(1.0, norm(r_primal_));
    auto const dual0 = std::max(1.0, norm(r_dual_));
    for (int i = 0; i < kMaxIterations; ++i) {
      auto const gap =
          std::abs(dot(c_, at_.x) - dot(b_, at_.y)) / (at_.tau + std::abs(dot(b_, at_.y)));
      if (norm(r_primal_) / primal0 <= kTolerance && norm(r_dual_) / dual0 <= kTolerance &&
          gap <= kTolerance) {
        auto x = at_.x;
        for (auto& value : x) value /= at_.tau;
        return x;
      }
      if (!iterate()) return std::nullopt;
      residuals();
    }
    return std::nullopt;
  }

 private:
  void residuals() {
    r_primal_ = times(a_, at_.x);
    for (std::size_t i = 0; i < b_.size(); ++i) r_primal_[i] = b_[i] * at_.tau - r_primal_[i];
    r_dual_ = transposed_times(a_, at_.y);
    for (std::size_t i = 0; i < c_.size(); ++i)
      r_dual_[i] = c_[i] * at_.tau - r_dual_[i] - at_.z[i];
    r_gap_ = dot(c_, at_.x) - dot(b_, at_.y) + at_.kappa;
  }

  bool iterate() {
    auto const n = c_.size();
    scale_.resize(n);
    for (std::size_t i = 0; i < n; ++i) scale_[i] = at_.x[i] / at_.z[i];
    Matrix m(a_.rows, a_.rows);
    for (std::size_t r = 0; r < a_.rows; ++r)
      for (std::size_t s = 0; s <= r; ++s)
        for (std::size_t c = 0; c < n; ++c) m(r, s) += a_(r, c) * scale_[c] * a_(s, c);
    if (!cholesky(m)) return false;
    auto const mu = (dot(at_.x, at_.z) + at_.tau * at_.kappa) / static_cast<double>(n + 1);

    auto const predicted = direction(m, 0, mu, nullptr);
    auto const a = max_step(predicted, 1);
    auto const gamma = (1 - a) * (1 - a) * std::min(0.1, 1 - a);
    auto const corrected = direction(m, gamma, mu, &predicted);
    auto const length = max_step(corrected, kStepFactor);
    for (std::size_t i = 0; i < n; ++i) {
      at_.x[i] += length * corrected.x[i];
      at_.z[i] += length * corrected.z[i];
    }
    for (std::size_t i = 0; i < b_.size(); ++i) at_.y[i] += length * corrected.y[i];
    at_.tau += length * corrected.tau;
    at_.kappa += length * corrected.kappa;
    return true;
  }

  // v = M^-1 (r2 + A D r1), u = D (A'v - r1).
  std::pair<Vector, Vector> eliminate(Matrix const& m, Vector const& r1, Vector const& r2) const {
    Vector scaled(r1.size());
    for (std::size_t i = 0; i < r1.size(); ++i) scaled[i] = scale_[i] * r1[i];
    auto right = times(a_, scaled);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] += r2[i];
    auto v = cholesky_solve(m, std::move(right));
    auto u = transposed_times(a_, v);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = scale_[i] * (u[i] - r1[i]);
    return {std::move(u), std::move(v)};
  }

  Step direction(Matrix const& m, double gamma, double mu, Step const* predictor) const {
    auto const n = c_.size();
    auto const eta = 1 - gamma;
    Vector target(n);
    for (std::size_t i = 0; i < n; ++i)
      target[i] = gamma * mu - at_.x[i] * at_.z[i] -
                  (predictor != nullptr ? predictor->x[i] * predictor->z[i] : 0);
    auto const target_tk = gamma * mu - at_.tau * at_.kappa -
                           (predictor != nullptr ? predictor->tau * predictor->kappa : 0);
    Vector r1(n);
    for (std::size_t i = 0; i < n; ++i) r1[i] = eta * r_dual_[i] - target[i] / at_.x[i];
    Vector r2(b_.size());
    for (std::size_t i = 0; i < r2.size(); ++i) r2[i] = eta * r_primal_[i];
    auto const [p, q] = eliminate(m, c_, b_);
    auto const [u, v] = eliminate(m, r1, r2);
    Step d;
    d.tau = (eta * r_gap_ + target_tk / at_.tau + dot(c_, u) - dot(b_, v)) /
            (at_.kappa / at_.tau - dot(c_, p) + dot(b_, q));
    d.x.resize(n);
    d.z.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      d.x[i] = u[i] + p[i] * d.tau;
      d.z[i] = (target[i] - at_.z[i] * d.x[i]) / at_.x[i];
    }
    d.y.resize(b_.size());
    for (std::size_t i = 0; i < d.y.size(); ++i) d.y[i] = v[i] + q[i] * d.tau;
    d.kappa = (target_tk - at_.kappa * d.tau) / at_.tau;
    return d;
  }

  [[nodiscard]] double max_step(Step const& d, double factor) const {
    double step = 1;
    auto const keep_positive = [&](double value, double change) {
      if (change < 0) step = std::min(step, factor * value / -change);
    };
    for (std::size_t i = 0; i < c_.size(); ++i) {
      keep_positive(at_.x[i], d.x[i]);
      keep_positive(at_.z[i], d.z[i]);
    }
    keep_positive(at_.tau, d.tau);
    keep_positive(at_.kappa, d.kappa);
    return step;
  }

  Matrix a_;
  Vector b_;
  Vector c_;
  Step at_;
  Vector scale_;
  Vector r_primal_;
  Vector r_dual_;
  double r_gap_ = 0;
};

// `speeds` descending, all positive; `n` counts those without bandwidth too.
std::optional<Vector> solve_shares(Vector const& speeds, std::size_t n) {
  auto const k = speeds.size();
  auto const per_peer = n != 2 ? k : 0;
  auto const rows = 1 + per_peer + k;
  Matrix a(rows, k + 1 + rows);
  Vector b(rows);
  for (std::size_t i = 0; i < k; ++i) {
    a(0, i) = -1;
    if (n != 2) {
      a(1 + i, i) = static_cast<double>(static_cast<std::int64_t>(n) - 2) / speeds[i];
      a(1 + i, k) = -1;
      b[1 + i] = -1 / speeds[i];
    }
    a(1 + per_peer + i, i) = 1;
    b[1 + per_peer + i] = 1;
  }
  b[0] = -1;
  for (std::size_t r = 0; r < rows; ++r) a(r, k + 1 + r) = 1;
  Vector c(k + 1 + rows);
  c[k] = 1;
  auto solution = InteriorPoint(std::move(a), std::move(b), std::move(c)).solve();
  if (solution) solution->resize(k);
  return solution;
}

}  // namespace

std::vector<double> optimal_scores(std::uint64_t vector_size,
                                   std::span<double const> bandwidths,
                                   std::uint64_t min_size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < bandwidths.size(); ++i)
    if (bandwidths[i] > 0) order.push_back(i);
  WAGGLE_ASSERT(!order.empty());
  std::stable_sort(
      order.begin(), order.end(), [&](auto i, auto j) { return bandwidths[i] > bandwidths[j]; });
  std::vector<double> scores(bandwidths.size());
  if (order.size() == 1) {
    scores[order[0]] = 1;
    return scores;
  }
  Vector speeds;
  for (auto const i : order) speeds.push_back(bandwidths[i]);
  auto const shares = solve_shares(speeds, bandwidths.size());
  if (!shares) return std::vector<double>(bandwidths.size(), 1.0);
  for (std::size_t i = 0; i < order.size(); ++i) scores[order[i]] = (*shares)[i];
  auto const least =
      vector_size > 0 ? static_cast<double>(min_size) / static_cast<double>(vector_size) : 0.0;
  bool const any_left = *std::max_element(scores.begin(), scores.end()) >= least;
  for (auto& score : scores) {
    if (any_left && score < least) score = 0;
    score = std::max(0.0, std::round(score * 1e9) / 1e9);
  }
  if (std::all_of(scores.begin(), scores.end(), [](double s) { return !(s > 0); }))
    return std::vector<double>(bandwidths.size(), 1.0);
  return scores;
}

}  // namespace waggle::averaging
