// The picture of a plan, as SVG: what Figure 1 of the paper shows (Planned collectives).
//
// A column for each rank, a row for each step, which ends with a JOIN. In each the blocks of the buffers that the plan uses, input
// above, then output, then scratch; grey are those that the step touches. Blue arrows are messages, red ones reductions, green ones
// copies.
#pragma once

#include <span>
#include <string>

#include "base/status.hpp"
#include "plan/plan.hpp"

// `plans`: of ranks 0, 1, ...; a single one if it is symmetric. Appends to `svg`. MPI_ERR_ARG: nobody could look at so much.
heddle::Status draw(std::span<const heddle::plan::Plan> plans, std::string& svg);
