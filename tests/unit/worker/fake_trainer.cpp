// SPDX-License-Identifier: MIT
// Answers as a waggle-trainer with an engine for GPUs would, and computes nothing: each sample adds
// one to the only gradient. What befalls its GPU stands in the configuration:
//   "well"      it works
//   "absent"    none is there
//   "breaks"    from the third micro-batch of a process on, the driver fails
//   "short"     at the hand-over of the buffers, the driver fails
//   "small"     its memory cannot hold the model
//   "tight"     it can, but with no batch beside it
//   "crowded"   it has room, but the machine has none
//   "lies"      it says more than is true, and names a file instead of a card
#include <chrono>
#include <memory>
#include <thread>

#include "core/worker/messages.hpp"
#include "core/worker/packet.hpp"

namespace waggle::worker {
namespace {

constexpr int kSocket = 3;

class Fake {
 public:
  Message answer(Message const& question, std::vector<Fd> const& descriptors) {
    if (auto const* const start = std::get_if<Start>(&question)) {
      fate_ = start->config_json;
      on_gpu_ = start->gpu && fate_ != "absent";
      Facts facts;
      facts.parameters = {{"w", {4}}};
      facts.micro_batch = 4;
      facts.can_gpu = true;
      facts.device = on_gpu_ ? "cuda:0 f32" : "cpu f32";
      if (on_gpu_) facts.gpu = fate_ == "lies" ? "0000:65:../../x" : "0000:65:00.0";
      if (start->gpu && !on_gpu_) facts.gpu_trouble = "no GPU was found";
      facts.training_flops_per_sample = static_cast<double>(start->gpu_memory_limit);
      return facts;
    }
    if (std::get_if<Buffers>(&question) != nullptr) {
      if (on_gpu_ && fate_ == "short") return lost();
      if (on_gpu_ && fate_ == "small") return Failed{Failed::Kind::memory, "CUDA out of memory"};
      auto mapping = Mapping::map(descriptors.at(1).get(), 4);
      if (!mapping) return Failed{Failed::Kind::io, "no buffer"};
      gradients_ = *std::move(mapping);
      return Done{};
    }
    if (auto const* const batch = std::get_if<Accumulate>(&question)) {
      if (on_gpu_ && fate_ == "tight") return Failed{Failed::Kind::memory, "CUDA out of memory"};
      if (on_gpu_ && fate_ == "crowded")
        return Failed{Failed::Kind::memory, std::string(kHostMemory)};
      gradients_.values()[0] += static_cast<float>(batch->samples);
      if (on_gpu_ && fate_ == "breaks" && ++batches_ > 2) return lost();
      if (fate_ == "lies") return BatchDone{batch->samples, 1, true, ~0ull, ~0ull};
      // As long as it claims: nobody believes it more.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::uint64_t const busy = on_gpu_ ? 40'000'000 : 0;
      return BatchDone{batch->samples, 1, true, 50'000'000, busy};
    }
    return Failed{Failed::Kind::invalid, "not in this play"};
  }

 private:
  static Failed lost() {
    return {Failed::Kind::gpu, "CUDA error: no CUDA-capable device is detected"};
  }

  std::string fate_;
  bool on_gpu_ = false;
  int batches_ = 0;
  Mapping gradients_;
};

int play() {
  Fake fake;
  for (;;) {
    auto const packet = receive_packet(kSocket);
    if (!packet) return 0;
    auto const question = decode(packet->bytes);
    if (!question) return 1;
    auto const bytes = encode(fake.answer(*question, packet->descriptors));
    if (!bytes || !send_packet(kSocket, *bytes, {})) return 1;
  }
}

}  // namespace
}  // namespace waggle::worker

int main() {
  return waggle::worker::play();
}
