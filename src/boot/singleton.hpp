// A program that nobody launched: a job of one.
#pragma once

#include <map>

#include "boot/boot.hpp"

namespace heddle::boot {

class Singleton final : public Boot {
 public:
  Singleton();

  std::size_t max_value() const noexcept override { return 1024; }
  Status put(std::string_view key, std::string_view value) override;
  Status get(int, std::string_view key, std::string& value) override;
  bool can_rejoin() const noexcept override { return true; }
  Status fence(const Meanwhile&) override { return Status::ok(); }
  [[noreturn]] void abort(int code, std::string_view message) noexcept override;
  Status finalize() override { return Status::ok(); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace heddle::boot
