// What a process is confined to, on machines that hwloc makes up.
#include "mpi/hardware.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace heddle::mpi {
namespace {

using Instances = std::map<std::string, int>;

std::vector<Resource> look(const char* machine, std::vector<int> processors) {
  setenv("HWLOC_SYNTHETIC", machine, 1);
  auto found = resources_of(processors);
  unsetenv("HWLOC_SYNTHETIC");
  return found;
}

Instances instances(const std::vector<Resource>& resources) {
  Instances found;
  for (const Resource& r : resources) EXPECT_TRUE(found.emplace(r.type, r.instance).second) << r.type;
  return found;
}

// Two packages of two NUMA nodes of one L3 of two cores of two threads: 16 processors.
constexpr const char* kServer = "pack:2 numa:2 l3:1 core:2 pu:2";

TEST(Hardware, OneProcessorIsOneOfEverything) {
  const Instances of = instances(look(kServer, {13}));
  EXPECT_EQ(of, (Instances{{"Machine", 0}, {"Package", 1}, {"NUMANode", 3}, {"L3Cache", 3}, {"Core", 6}, {"PU", 13}}));
}

TEST(Hardware, SeveralProcessorsAreConfinedToWhatHoldsThemAll) {
  Instances of = instances(look(kServer, {4, 5}));
  EXPECT_EQ(of["Core"], 2);
  EXPECT_EQ(of["PU"], kNotConfined);
  of = instances(look(kServer, {9, 14}));
  EXPECT_EQ(of["Machine"], 0);
  EXPECT_EQ(of["Package"], 1);
  EXPECT_EQ(of["NUMANode"], kNotConfined);
  EXPECT_EQ(of["L3Cache"], kNotConfined);
  EXPECT_EQ(of["Core"], kNotConfined);
  of = instances(look(kServer, {7, 8}));
  EXPECT_EQ(of["Package"], kNotConfined);
}

TEST(Hardware, TheLargestComeFirst) {
  std::vector<std::string> types;
  for (const Resource& r : look(kServer, {0})) types.push_back(r.type);
  EXPECT_EQ(types, (std::vector<std::string>{"Machine", "Package", "L3Cache", "Core", "PU", "NUMANode"}));
}

TEST(Hardware, WhatIsNotOnTheMachineIsNowhere) {
  for (const auto& [type, instance] : instances(look(kServer, {100}))) EXPECT_EQ(instance, kNotConfined) << type;
}

TEST(Hardware, ThisMachineHoldsThisProcess) {
  const std::vector<int> mine = own_processors();
  ASSERT_FALSE(mine.empty());
  const Instances of = instances(resources_of(mine));
  EXPECT_EQ(of.at("Machine"), 0);
  EXPECT_EQ(of.count("Core"), 1u);
  EXPECT_EQ(of.at("PU") == kNotConfined, mine.size() > 1);
}

}  // namespace
}  // namespace heddle::mpi
