#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lapilli/precision.h"
#include "plan/layout.h"
#include "plan/structure.h"
#include "program/device_traits.h"

namespace lapilli {

/// What tests and benchmarks decide in place of the planner.
struct ContractionTuning {
  std::string variant;              ///< runs wherever it can, by the name of its kernel; empty for the best one
  std::optional<std::size_t> tile;  ///< of matrix units: an index into the variant's table
  std::int64_t slices = 0;          ///< of the depth, on matrix units; 0 for the best number
};

struct PlanOptions {
  Precision precision = Precision::float32;
  bool channels_last = true;  ///< convolutions keep their channels innermost
  ContractionTuning contraction;
};

/// What families write into while a structure is made: placements are there, dispatches are added.
class Emission {
 public:
  Emission(const Graph& graph, Assumptions& assumptions, const DeviceTraits& traits, const PlanOptions& options,
           Structure& structure)
      : graph_(graph), assumptions_(assumptions), traits_(traits), options_(options), structure_(structure) {}

  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] Assumptions& assumptions() noexcept { return assumptions_; }
  [[nodiscard]] const DeviceTraits& traits() const noexcept { return traits_; }
  [[nodiscard]] const PlanOptions& options() const noexcept { return options_; }

  /// The type that a value of this type has in device memory.
  [[nodiscard]] DType stored_dtype(DType dtype) const noexcept;

  /// Where a value lies; one with known elements that has no place yet gets one, row-major in its own type.
  /// The reference holds until the next value is placed.
  const Placement& placement(ValueId value);
  /// The same for a value that has a place, as it lies for all nodes.
  [[nodiscard]] const Placement& place_of(ValueId value) const { return placements_.at(value); }
  [[nodiscard]] bool is_placed(ValueId value) const { return placements_.contains(value); }
  void place(ValueId value, Placement placement) { placements_.insert_or_assign(value, std::move(placement)); }
  /// Lets one node see copies of its inputs that lie as its kernels need them.
  void set_copies(std::map<ValueId, Placement> copies) { copies_ = std::move(copies); }

  StorageId add_storage(Storage storage);
  [[nodiscard]] const Dim& storage_bytes(StorageId storage) const {
    return structure_.storages.at(index_of(storage)).size;
  }
  /// A new piece of the arena for elements in this layout.
  Placement add_arena(DType dtype, std::span<const Dim> shape, const Layout& layout);
  /// The elements `start` to `start + size` along an axis of a value of this shape, as a placement of their own.
  Placement part_of(const Placement& placement, std::span<const Dim> shape, std::size_t axis, const Dim& start,
                    const Dim& size);
  /// The storage that has the memory.
  [[nodiscard]] StorageId whole_of(StorageId storage) const;
  [[nodiscard]] const Storage& storage(StorageId storage) const { return structure_.storages[index_of(storage)]; }
  /// The lowest level of a dispatch that runs after all that write, or read, a storage so far.
  [[nodiscard]] std::uint32_t level_after_writers(StorageId storage) const;
  [[nodiscard]] std::uint32_t level_after_readers(StorageId storage) const;
  /// Says what lies in a storage, where nothing did before.
  void set_name(StorageId storage, const std::string& name);
  /// Counts a value that would have its own memory if it did not share this.
  void add_shared(const Placement& placement, std::span<const Dim> shape);
  /// A constant in the order that a kernel wants; equal requests share one storage.
  StorageId add_constant(const Tensor& source, const Packing& packing);

  /// Adds a dispatch that runs after everything added so far that writes what it reads or reads what it writes, and
  /// after `dispatch.after`. Returns its number, for the `after` of later ones.
  std::uint32_t add_dispatch(SymbolicDispatch dispatch);

  /// Dispatches added from here on come from this node.
  void set_origin(std::span<const std::string> origins);

 private:
  struct Use {
    StorageId storage{};
    std::uint32_t dispatch = 0;
  };
  struct Uses {
    std::vector<Use> readers, writers;
  };

  void write_elements(std::span<const Dim> elements, const Placement& placement);
  [[nodiscard]] std::uint32_t level_after(StorageId storage, std::vector<Use> Uses::* uses) const;
  [[nodiscard]] bool may_share(StorageId left, StorageId right) const;

  const Graph& graph_;
  Assumptions& assumptions_;
  const DeviceTraits& traits_;
  const PlanOptions& options_;
  Structure& structure_;
  std::map<ValueId, Placement> placements_;
  std::map<ValueId, Placement> copies_;
  std::map<StorageId, Uses> uses_;  // of each storage that has memory, by itself or by its parts
  std::uint32_t origin_ = 0;
};

/// Appends parameter words in the order in which kernels read them.
class ParameterWriter {
 public:
  ParameterWriter& value(const Dim& value);
  ParameterWriter& literal(std::uint32_t bits);
  ParameterWriter& real(float value);
  /// A size to divide by: the size, the multiplier and the shift.
  ParameterWriter& divisor(const Dim& value);
  [[nodiscard]] std::vector<ParameterWord> take() { return std::move(words_); }

 private:
  std::vector<ParameterWord> words_;
};

}  // namespace lapilli
