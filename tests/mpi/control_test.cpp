#include "mpi/control.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

#include "match/choice.hpp"
#include "mpi.h"
#include "vci/domain.hpp"

namespace heddle::mpi {
namespace {

// What was written stays for the whole program, so each test has to leave the next one what it needs.
int value_of(int index) {
  int value = -1;
  EXPECT_TRUE(read_control(index, &value, MPI_ERR_OTHER)) << last_error_detail();
  return value;
}

int class_with(const char* name, const char* text, int index) {
  setenv(name, text, 1);
  int value = -1;
  const Status status = read_control(index, &value, MPI_ERR_OTHER);
  unsetenv(name);
  return status.error_class();
}

TEST(Control, TableAgreesWithItself) {
  ASSERT_EQ(controls().size(), static_cast<std::size_t>(kControls));
  for (const Control& control : controls()) {
    EXPECT_LE(control.low, control.initial);
    EXPECT_LE(control.initial, control.high);
    if (!control.choices.empty()) {
      EXPECT_EQ(control.low, 0);
      EXPECT_EQ(control.choices.size(), static_cast<std::size_t>(control.high) + 1);
    }
    std::string shouted = "HEDDLE_";
    for (const char* c = control.name; *c != '\0'; ++c) shouted += static_cast<char>(std::toupper(*c));
    EXPECT_EQ(shouted, control.environment);
  }
  EXPECT_STREQ(controls()[kVcis].name, "vcis");
  EXPECT_STREQ(controls()[kMatching].name, "matching");
  EXPECT_EQ(legal_values(controls()[kVcis]), "1 to 16");
  EXPECT_EQ(legal_values(controls()[kSingleCopy]), "a text");
  EXPECT_TRUE(controls()[kProfile].is_text());
  EXPECT_FALSE(controls()[kVcis].is_text());
  EXPECT_EQ(legal_values(controls()[kVciMapping]), "hints, communicators or none");
  EXPECT_EQ(spelled(controls()[kVcis], 3), "3");
  EXPECT_EQ(spelled(controls()[kVciMapping], 2), "none");
  EXPECT_TRUE(controls()[kMatching].is_text());
}

TEST(Control, DefaultsAreThoseOfTheDomain) {
  EXPECT_EQ(value_of(kVcis), static_cast<int>(vci::DomainOptions{}.vcis));
  EXPECT_EQ(match::parse_choice(read_text(kMatching)), vci::DomainOptions{}.engine);
}

TEST(Control, EnvironmentIsReadAndJudged) {
  setenv("HEDDLE_VCIS", "16", 1);
  setenv("HEDDLE_VCI_MAPPING", "none", 1);
  EXPECT_EQ(value_of(kVcis), 16);
  EXPECT_EQ(static_cast<vci::Mapping>(value_of(kVciMapping)), vci::Mapping::kNone);
  unsetenv("HEDDLE_VCIS");
  unsetenv("HEDDLE_VCI_MAPPING");
  for (const char* text : {"0", "17", "", "-1", " 2", "2x", "0x2", "99999999999"}) {
    EXPECT_EQ(class_with("HEDDLE_VCIS", text, kVcis), MPI_ERR_OTHER) << text;
  }
  for (const char* text : {"", "None", "hint", "1"}) {
    EXPECT_EQ(class_with("HEDDLE_VCI_MAPPING", text, kVciMapping), MPI_ERR_OTHER) << text;
  }
  EXPECT_STREQ(last_error_detail(),
               "HEDDLE_VCI_MAPPING='1' is not one of hints, communicators or none; correct or unset it");
  setenv("HEDDLE_VCIS", "none", 1);
  EXPECT_EQ(freeze_controls().error_class(), MPI_ERR_OTHER);
  unsetenv("HEDDLE_VCIS");
}

TEST(Control, TextsComeFromWhereNumbersDo) {
  EXPECT_EQ(read_text(kSingleCopy), "auto");
  EXPECT_EQ(read_text(kProfile), "");
  setenv("HEDDLE_SINGLE_COPY", "off", 1);
  EXPECT_EQ(read_text(kSingleCopy), "off");
  EXPECT_TRUE(write_text(kSingleCopy, "first"));
  EXPECT_TRUE(write_text(kSingleCopy, "written"));
  EXPECT_EQ(read_text(kSingleCopy), "written") << "what is written goes before the environment";
  setenv("HEDDLE_PROFILE", "/a/profile", 1);
  EXPECT_TRUE(freeze_controls());
  setenv("HEDDLE_PROFILE", "/another", 1);  // too late
  EXPECT_EQ(read_text(kProfile), "/a/profile");
  EXPECT_EQ(read_text(kSingleCopy), "written");
  EXPECT_EQ(write_text(kProfile, "x").error_class(), MPI_T_ERR_CVAR_SET_NEVER);
  EXPECT_EQ(read_text(kProfile), "/a/profile");
  thaw_controls();
  unsetenv("HEDDLE_SINGLE_COPY");
  unsetenv("HEDDLE_PROFILE");
}

TEST(Control, IsWrittenUntilFrozen) {
  EXPECT_EQ(write_control(kVcis, 0).error_class(), MPI_T_ERR_INVALID);
  EXPECT_EQ(write_control(kVcis, 17).error_class(), MPI_T_ERR_INVALID);
  EXPECT_EQ(value_of(kVcis), 16);
  pin_control(kVcis);
  EXPECT_EQ(write_control(kVcis, 4).error_class(), MPI_T_ERR_CVAR_SET_NOT_NOW);
  unpin_control(kVcis);
  EXPECT_TRUE(write_control(kVcis, 4));
  setenv("HEDDLE_VCIS", "9", 1);
  EXPECT_EQ(value_of(kVcis), 4) << "what is written goes before the environment";
  EXPECT_TRUE(freeze_controls());
  EXPECT_EQ(write_control(kVcis, 5).error_class(), MPI_T_ERR_CVAR_SET_NEVER);
  setenv("HEDDLE_VCI_MAPPING", "none", 1);  // too late
  EXPECT_EQ(value_of(kVciMapping), 0);
  thaw_controls();
  EXPECT_TRUE(write_control(kVcis, 5));
  EXPECT_EQ(value_of(kVcis), 5);
}

}  // namespace
}  // namespace heddle::mpi
