// The scans by key stand beside the others.
#pragma once
#include "device_scan.hpp"
