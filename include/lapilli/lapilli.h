#pragma once

// The whole C++ interface.
#include "lapilli/device.h"
#include "lapilli/error.h"
#include "lapilli/model.h"
#include "lapilli/operators.h"
#include "lapilli/tensor.h"
