#include "frame.hpp"

#include "mpi.h"

namespace heddle::launcher {
namespace {

void append_number(std::string& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

}  // namespace

FrameWriter::FrameWriter(FrameType type) : bytes_(kFrameHeader, '\0') { bytes_[4] = static_cast<char>(type); }

FrameWriter& FrameWriter::number(std::int64_t value) {
  append_number(bytes_, static_cast<std::uint32_t>(value));
  return *this;
}

FrameWriter& FrameWriter::text(std::string_view value) {
  append_number(bytes_, static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
  return *this;
}

std::string_view FrameWriter::finish() {
  std::string length;
  append_number(length, static_cast<std::uint32_t>(fields()));
  bytes_.replace(0, length.size(), length);
  return bytes_;
}

std::int32_t FrameReader::number() noexcept {
  if (missing_ || rest_.size() < 4) {
    missing_ = true;
    return 0;
  }
  const std::uint32_t value = read_number(rest_);
  rest_.remove_prefix(4);
  return static_cast<std::int32_t>(value);
}

std::string_view FrameReader::text() noexcept {
  const std::uint32_t size = static_cast<std::uint32_t>(number());
  if (missing_ || size > rest_.size()) {
    missing_ = true;
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

bool FrameDecoder::next(Frame& frame, Status& status) {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() >= kFrameHeader) {
    const std::uint32_t length = read_number(rest);
    const auto type = static_cast<unsigned char>(rest[4]);
    const bool known = type != 0 && type < static_cast<unsigned char>(FrameType::kEnd_);
    if (length > kMaxFields || !known || rest[5] != 0 || rest[6] != 0 || rest[7] != 0) {
      status = error(MPI_ERR_OTHER, "not a frame: length %u, type %u", length, type);
      return false;
    }
    if (rest.size() - kFrameHeader >= length) {
      frame.type = static_cast<FrameType>(type);
      frame.fields = rest.substr(kFrameHeader, length);
      taken_ += kFrameHeader + length;
      return true;
    }
  }
  bytes_.erase(0, taken_);
  taken_ = 0;
  return false;
}

}  // namespace heddle::launcher
