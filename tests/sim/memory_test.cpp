// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace std::chrono_literals;

namespace {

Co<void> echo(net::Incoming incoming) {
  Bytes buffer(1000);
  for (;;) {
    auto got = co_await incoming.stream->read_some(buffer, kNoDeadline);
    if (!got) co_return;
    if (*got == 0) break;
    auto sent = co_await incoming.stream->write(ByteView(buffer).first(*got), kNoDeadline);
    if (!sent) co_return;
  }
  (void)co_await incoming.stream->close_write(kNoDeadline);
}

Co<Result<Bytes>> read_all(net::Stream& stream) {
  Bytes all;
  Bytes buffer(777);
  for (;;) {
    auto got = co_await stream.read_some(buffer, kNoDeadline);
    if (!got) co_return std::move(got).error();
    if (*got == 0) co_return std::move(all);
    append(all, ByteView(buffer).first(*got));
  }
}

Co<void> write_and_end(net::Stream& stream, Bytes data) {
  (void)co_await stream.write(data, kNoDeadline);
  (void)co_await stream.close_write(kNoDeadline);
}

Co<void> echo_once(sim::MemoryHost& from, PeerId to, std::size_t size, bool& same) {
  auto opened = co_await from.open(to, "/echo/1", from.runtime().now() + 30s);
  if (!opened) co_return;
  auto const stream = std::move(*opened);
  Bytes data(size);
  from.runtime().fill_random(data);
  Scope scope(from.runtime());
  scope.spawn("write", write_and_end(*stream, data));
  auto back = co_await read_all(*stream);
  same = back && *back == data;
  co_await scope.close();
}

Co<void> close_both(sim::MemoryHost& a, sim::MemoryHost& b) {
  co_await a.close();
  co_await b.close();
}

Co<void> open_status(sim::MemoryHost& from,
                     PeerId to,
                     std::string protocol,
                     Duration timeout,
                     std::string& outcome) {
  auto opened = co_await from.open(to, protocol, from.runtime().now() + timeout);
  outcome = opened ? "ok" : std::string(name(opened.error().code));
}

}  // namespace

TEST_CASE("a megabyte comes back whole through an echo, on the virtual clock") {
  sim::World world(3);
  sim::MemoryNetwork network(world, sim::links::residential());
  sim::MemoryHost a(network, sim::peer(1));
  sim::MemoryHost b(network, sim::peer(2));
  auto const serving = b.serve("/echo/1", echo);
  bool same = false;
  TimePoint const start = world.now();
  world.run(echo_once(a, b.self(), 1u << 20, same));
  CHECK(same);
  // 1 MiB at 2.5 MB/s takes 0.42 s at least, each way, partly at the same time.
  CHECK(to_seconds(world.now() - start) > 0.5);
  CHECK(a.connected(b.self()));
  CHECK(b.connected(a.self()));
  CHECK(a.bytes_sent() == 1u << 20);
  world.run(close_both(a, b));
}

TEST_CASE("the same hosts work on the real clock") {
  SystemRuntime runtime;
  sim::MemoryNetwork network(runtime);
  sim::MemoryHost a(network, sim::peer(1));
  sim::MemoryHost b(network, sim::peer(2));
  auto const serving = b.serve("/echo/1", echo);
  bool same = false;
  test::run(runtime, echo_once(a, b.self(), 1u << 20, same));
  CHECK(same);
  test::run(runtime, close_both(a, b));
}

TEST_CASE("opening fails as a real host would") {
  sim::World world(4);
  sim::MemoryNetwork network(world, sim::links::residential());
  sim::MemoryHost a(network, sim::peer(1), {.needs_addresses = true});
  sim::MemoryHost b(network, sim::peer(2));
  auto serving = b.serve("/echo/1", echo);
  std::string outcome;
  world.run(open_status(a, sim::peer(9), "/echo/1", 10s, outcome));
  CHECK(outcome == "not_found");
  world.run(open_status(a, b.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "not_found");
  world.run(open_status(b, a.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "refused");
  // Connected now, so a needs no address any more.
  world.run(open_status(a, b.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "ok");
  serving.reset();
  world.run(open_status(a, b.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "refused");
  b.kill();
  CHECK(!a.connected(b.self()));
  world.run(open_status(a, b.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "not_found");
  sim::MemoryHost c(network, sim::peer(3));
  TimePoint const start = world.now();
  world.run(open_status(c, b.self(), "/echo/1", 10s, outcome));
  CHECK(outcome == "timeout");
  CHECK(world.now() - start == 10s);
  world.run(close_both(a, b));
}

namespace {

Co<void> fill_window(net::Stream& writer, Errc& outcome, Runtime& runtime) {
  Bytes const data(100'000);
  auto written = co_await writer.write(data, runtime.now() + 1s);
  outcome = written ? Errc::io : written.error().code;
}

Co<void> data_then_reset(std::unique_ptr<net::Stream> writer,
                         net::Stream& reader,
                         std::string& story) {
  (void)co_await writer->write(as_bytes("last words"), kNoDeadline);
  writer.reset();
  Bytes buffer(100);
  auto got = co_await reader.read_some(buffer, kNoDeadline);
  story = got ? to_string(ByteView(buffer).first(*got)) : "error";
  auto after = co_await reader.read_some(buffer, kNoDeadline);
  story += after ? " read" : cat(" ", name(after.error().code));
  auto write = co_await reader.write(as_bytes("?"), kNoDeadline);
  story += write ? " written" : cat(" ", name(write.error().code));
}

Co<void> hang(net::Stream& stream, std::string& story) {
  Bytes buffer(1);
  auto got = co_await stream.read_some(buffer, kNoDeadline);
  story = got ? "read" : std::string(name(got.error().code));
}

Co<void> cancel_reader(Runtime& runtime, net::Stream& stream, std::string& story) {
  Scope scope(runtime);
  scope.spawn("hang", hang(stream, story));
  (void)co_await runtime.sleep_for(1ms);
  co_await scope.close();
}

Co<void> kill_under_reader(sim::MemoryHost& a,
                           sim::MemoryHost& b,
                           bool silent,
                           std::string& story) {
  auto opened = co_await a.open(b.self(), "/echo/1", kNoDeadline);
  auto const stream = std::move(*opened);
  Scope scope(a.runtime());
  scope.spawn("hang", hang(*stream, story));
  (void)co_await a.runtime().sleep_for(1s);
  b.kill(silent);
  (void)co_await scope.join(a.runtime().now() + 10s);
  co_await scope.close();
}

}  // namespace

TEST_CASE("a writer waits for the reader's window and gives up at its deadline") {
  sim::World world(5);
  sim::Path path;
  path.window = 1000;
  auto [writer, reader] = sim::memory_pair(world, path);
  auto outcome = Errc::io;
  world.run(fill_window(*writer, outcome, world));
  CHECK(outcome == Errc::timeout);
}

TEST_CASE("data written before a reset is read before the reset is seen") {
  sim::World world(5);
  sim::Path path;
  path.latency = 10ms;
  auto [writer, reader] = sim::memory_pair(world, path, path);
  std::string story;
  world.run(data_then_reset(std::move(writer), *reader, story));
  CHECK(story == "last words closed closed");
}

TEST_CASE("a cancelled reader leaves") {
  sim::World world(5);
  auto [a, b] = sim::memory_pair(world);
  std::string story;
  world.run(cancel_reader(world, *a, story));
  CHECK(story == "cancelled");
}

TEST_CASE("killing a host ends its streams, a silent death only by the caller's own deadline") {
  for (bool const silent : {false, true}) {
    sim::World world(6);
    sim::MemoryNetwork network(world, sim::links::lan());
    sim::MemoryHost a(network, sim::peer(1));
    sim::MemoryHost b(network, sim::peer(2));
    auto const serving = b.serve("/echo/1", echo);
    std::string story;
    world.run(kill_under_reader(a, b, silent, story));
    CHECK(story == (silent ? "cancelled" : "closed"));
    world.run(close_both(a, b));
  }
}

TEST_CASE("a cut holds data back until it heals") {
  sim::World world(7);
  sim::MemoryNetwork network(world, sim::links::lan());
  bool cut = false;
  network.links().cut = [&cut](std::uint32_t, std::uint32_t) { return cut; };
  sim::MemoryHost a(network, sim::peer(1));
  sim::MemoryHost b(network, sim::peer(2));
  auto const serving = b.serve("/echo/1", echo);
  (void)world.call_at(world.now() + 2ms, [&] { cut = true; });
  (void)world.call_at(world.now() + 20s, [&] { cut = false; });
  bool same = false;
  TimePoint const start = world.now();
  world.run(echo_once(a, b.self(), 1u << 20, same));
  CHECK(same);
  CHECK(world.now() - start >= 20s);
  world.run(close_both(a, b));
}
