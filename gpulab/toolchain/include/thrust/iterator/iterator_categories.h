#pragma once
#include "iterator_traits.h"
