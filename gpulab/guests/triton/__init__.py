"""A backend of Triton: with gpulab installed, `@triton.jit` kernels run on gpulab's devices, without PyTorch.

Triton looks for backends among the entry points "triton.backends" and takes the one whose driver says that it is
active. `driver.py` is that; `compiler.py` leaves compiling to Triton's own backend for AMD GPUs, whose target the
driver names.
"""
