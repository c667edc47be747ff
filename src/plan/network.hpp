// A network's numbers as text: lines `key value`, or `key=value,key=value`, times in seconds; `#` begins a comment.
//
//   between.latency 4e-6   .overhead .gap .byte      likewise within.*; ppn, ports, crowding, crowd, copy, reduce
//
// What a file doesn't say stays as it is in *out. An unknown key or a value that can't be is an error that names the line.
// Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "plan/cost.hpp"

namespace heddle::plan {

// Of a machine with one fast interface per node (bench/draw plans compares it with published measurements).
Network usual_network();

// `name`: of the file, for the error. On an error *out is as it was.
Status parse_network(std::string_view text, const char* name, Network* out);
std::string print(const Network& network);

}  // namespace heddle::plan
