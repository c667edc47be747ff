// What a build may leave out, so that it can be measured what each part is worth.
//
// Problem: the VCI paper takes its optimisations away one after the other; a claim about ours needs the same.
// Method:  one constant, fixed when the library is compiled (bench/run ablations sets HEDDLE_WITHOUT). A library for use
//          is compiled without it and has every part; the compiler drops the rest.
#pragma once

#ifndef HEDDLE_WITHOUT
#define HEDDLE_WITHOUT kNothing
#endif

namespace heddle {

enum class Without {
  kNothing,
  kFineLocks,    // one lock for all VCIs and lanes
  kOwnProgress,  // whoever makes progress makes it on every VCI
  kOwnPools,     // one pool of requests for all VCIs, with a lock of its own
  kAlignment,    // VCIs and what their threads write share cache lines
  kLocks,        // no lock for VCIs and lanes: right only while no two threads use the same one
};

inline constexpr Without kWithout = Without::HEDDLE_WITHOUT;

}  // namespace heddle
