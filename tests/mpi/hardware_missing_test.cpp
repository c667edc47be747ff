// A machine without hwloc: the user is told once, and nothing but the node is known.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "mpi/hardware.hpp"

static int asked;

// Before the C library's.
extern "C" void* dlopen(const char* file, int) noexcept {
  EXPECT_STREQ(file, "libhwloc.so.15");
  ++asked;
  return nullptr;
}

namespace heddle::mpi {
namespace {

TEST(Hardware, WithoutHwlocTheUserIsToldOnce) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(resources_of(own_processors()).empty());
  EXPECT_TRUE(resources_of(own_processors()).empty());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(asked, 1);
  EXPECT_NE(said.find("libhwloc.so.15"), said.npos) << said;
  EXPECT_EQ(said.find("heddle:"), said.rfind("heddle:")) << said;
}

}  // namespace
}  // namespace heddle::mpi
