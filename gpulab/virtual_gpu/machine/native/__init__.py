"""C code that translated kernels call, and its Python side: `build` compiles and loads it, `structures` are its data,
`context` one host thread's memory, `header` makes shared.h."""
