#include "plan/network.hpp"

#include <gtest/gtest.h>

namespace heddle::plan {
namespace {

TEST(Network, WhatIsPrintedParsesBack) {
  Network network = usual_network(), back;
  network.ppn = 64;
  network.between.gap = 1. / 3e7;
  ASSERT_TRUE(parse_network(print(network), "text", &back)) << last_error_detail();
  EXPECT_EQ(print(back), print(network));
  EXPECT_EQ(back.ppn, 64u);
  EXPECT_EQ(back.between.gap, 1. / 3e7);
}

TEST(Network, SaysLittleAndTheRestStays) {
  Network network = usual_network();
  ASSERT_TRUE(parse_network("# ours, and\n\n  ports 2 # two, not 3\nbetween.latency=1e-6,", "text", &network));
  EXPECT_EQ(network.ports, 2u);
  EXPECT_EQ(network.between.latency, 1e-6);
  EXPECT_EQ(network.reduce, usual_network().reduce);
}

TEST(Network, RefusesWhatCannotBe) {
  for (const char* text :
       {"ports 0", "ports -1", "ports 2.5", "ports", "between.latency -1e-6", "between.latency nan",
        "between.latency 1e-6s", "between.latency 5", "latency 1e-6", "ports 2 3", "{\"ports\": 2}"}) {
    Network network = usual_network();
    const std::string good = print(network);
    EXPECT_FALSE(parse_network(std::string("copy 1e-10\n") + text, "file", &network)) << text;
    EXPECT_NE(std::string(last_error_detail()).find("file, line 2"), std::string::npos) << last_error_detail();
    EXPECT_EQ(print(network), good) << text;
  }
}

}  // namespace
}  // namespace heddle::plan
