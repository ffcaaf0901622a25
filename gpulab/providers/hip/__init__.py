"""A base for libraries with HIP's C interface: `provider.HipProvider`, and what it is put together from.

`binding` reaches the C symbols (hip-python or ctypes), `library` points hip-python to the library that gpulab uses,
`watch` notices when it looks. `calls` turns codes into exceptions; `devices`, `memory`, `code`, `streams` and
`launches` have the calls of one purpose each.
"""
