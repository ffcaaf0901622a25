// Stand-ins for librocm_sysdeps_z and librocm_sysdeps_zstd, which ROCm installs and AMD's LLVM names: it loads where
// ROCm is not installed. What they would do (compressed sections) is not used here; each says that it failed, as zlib
// and zstd do.

#define HERE __attribute__((visibility("default")))

#ifdef FOR_ZLIB
enum { Z_MEM_ERROR = -4 };
HERE int compress2(void *to, unsigned long *size, const void *from, unsigned long length, int level) {
    return (void)to, (void)size, (void)from, (void)length, (void)level, Z_MEM_ERROR;
}
HERE int uncompress(void *to, unsigned long *size, const void *from, unsigned long length) {
    return (void)to, (void)size, (void)from, (void)length, Z_MEM_ERROR;
}
HERE unsigned long compressBound(unsigned long length) { return length; }
HERE unsigned long crc32(unsigned long before, const void *from, unsigned length) {
    return (void)from, (void)length, before;
}
#else
enum { ZSTD_ERROR = -1 };
HERE void *ZSTD_createCCtx(void) { return 0; }
HERE unsigned long ZSTD_freeCCtx(void *context) { return (void)context, 0; }
HERE unsigned long ZSTD_CCtx_setParameter(void *context, int parameter, int value) {
    return (void)context, (void)parameter, (void)value, (unsigned long)ZSTD_ERROR;
}
HERE unsigned long ZSTD_compress2(void *context, void *to, unsigned long room, const void *from, unsigned long length) {
    return (void)context, (void)to, (void)room, (void)from, (void)length, (unsigned long)ZSTD_ERROR;
}
HERE unsigned long ZSTD_decompress(void *to, unsigned long room, const void *from, unsigned long length) {
    return (void)to, (void)room, (void)from, (void)length, (unsigned long)ZSTD_ERROR;
}
HERE unsigned long ZSTD_compressBound(unsigned long length) { return length; }
HERE unsigned ZSTD_isError(unsigned long code) { return code == (unsigned long)ZSTD_ERROR; }
HERE const char *ZSTD_getErrorName(unsigned long code) { return (void)code, "not available"; }
#endif
