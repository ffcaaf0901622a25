// The part of a whole program that starts it. The file is a shared library that can be executed as well: it has an
// interpreter (.interp) and an entry of its own, and no mark of an executable, which dlopen would refuse.
//
// Executed, it chooses the HIP library: ROCm's, if there is one that finds a GPU; then main runs in this process. Else
// this process becomes Python, which loads the virtual library and this very file, and calls main: gpulab/programs/
// start.py. GPULAB_LIBRARY (rocm, virtual) overrules the choice and GPULAB_PYTHON the Python.
//
// Calls of HIP and of other libraries go through tables, one jump for each function (gpulab_libraries, made by
// programs/building.py), so the file needs no such library to be loaded.
//
// Headers of the C library alone: the first program on a machine waits for those of the C++ library to be read.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
extern char** environ;
int gpulab_main(int, char**, char**) asm("main");  // not of a shared library (GPULAB_SHARED)
struct gpulab_call {
  const char* name;
  void* address;  // at first of a function that answers "not supported"
};
struct gpulab_library {
  const char* file;  // libamdhip64.so
  long major;        // of its version: libamdhip64.so.7
  gpulab_call* calls;
};
extern gpulab_library gpulab_libraries[] __attribute__((visibility("hidden")));  // the first is HIP
extern const char gpulab_python[] __attribute__((visibility("hidden")));  // the interpreter that built this program
extern const char gpulab_home[] __attribute__((visibility("hidden")));    // where its gpulab lies
typedef void (*initializer)(int, char**, char**);
extern initializer __init_array_start[] __attribute__((visibility("hidden")));
extern initializer __init_array_end[] __attribute__((visibility("hidden")));
}

#ifndef GPULAB_SHARED
__attribute__((section(".interp"), used, retain)) static const char interpreter[] = GPULAB_INTERPRETER;

#if defined(__x86_64__)
asm(R"(
  .text
  .globl gpulab_entry
  .hidden gpulab_entry
  .type gpulab_entry, @function
gpulab_entry:
  .cfi_startproc
  .cfi_undefined rip
  xorl %ebp, %ebp
  movq %rdx, %r9
  popq %rsi
  movq %rsp, %rdx
  andq $-16, %rsp
  pushq %rax
  pushq %rsp
  xorl %r8d, %r8d
  leaq gpulab_no_constructors(%rip), %rcx
  leaq gpulab_launch(%rip), %rdi
  call *__libc_start_main@GOTPCREL(%rip)
  hlt
  .cfi_endproc
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl gpulab_entry
  .hidden gpulab_entry
  .type gpulab_entry, @function
gpulab_entry:
  .cfi_startproc
  .cfi_undefined x30
  mov x29, #0
  mov x30, #0
  mov x5, x0
  ldr x1, [sp, #0]
  add x2, sp, #8
  mov x6, sp
  adrp x0, gpulab_launch
  add x0, x0, :lo12:gpulab_launch
  adrp x3, gpulab_no_constructors
  add x3, x3, :lo12:gpulab_no_constructors
  mov x4, #0
  bl __libc_start_main
  bl abort
  .cfi_endproc
)");
#endif
#endif

static bool linked;

// Whether any of its functions was found.
static bool link(const gpulab_library& library, void* handle) {
  bool any = false;
  for (gpulab_call* call = library.calls; call->name; ++call)
    if (void* found = dlsym(handle, call->name)) {
      call->address = found;
      any = true;
    }
  return any;
}

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static bool is_virtual(const char* root) { return strstr(root, "virtual-rocm") != nullptr; }

// A library in the folder of a ROCm.
static void* open_in(const char* root, const char* file, int mode) {
  char* path = nullptr;
  if (asprintf(&path, "%s/lib/%s", root, file) < 0) return nullptr;
  void* found = dlopen(path, mode);
  free(path);
  return found;
}

// A library of ROCm's: of this version, or of the one before.
static void* open_rocm(const gpulab_library& library) {
  const int mode = RTLD_NOW | RTLD_GLOBAL;
  const char* const roots[] = {setting("ROCM_PATH"), setting("ROCM_HOME"), "/opt/rocm"};
  for (const char* root : roots)
    if (*root && !is_virtual(root))
      if (void* found = open_in(root, library.file, mode)) return found;
  for (long major = library.major; major >= library.major - 1; --major) {
    char* name = nullptr;
    if (asprintf(&name, "%s.%ld", library.file, major) < 0) return nullptr;
    void* found = dlopen(name, mode);
    free(name);
    if (found) return found;
  }
  return dlopen(library.file, mode);
}

static void link_rocm() {
  linked = true;
  void* hip = open_rocm(gpulab_libraries[0]);  // which has the functions of small libraries, too
  for (gpulab_library* each = gpulab_libraries; each->file; ++each) {
    void* found = each == gpulab_libraries ? hip : open_rocm(*each);
    if (!link(*each, found ? found : hip)) fprintf(stderr, "This ROCm has no %s: its functions fail.\n", each->file);
  }
}

// Whether ROCm's library finds a GPU: asked in a process of its own, so that a broken installation ends only that.
static bool rocm_works() {
  pid_t child = fork();
  if (child == 0) {
    void* library = open_rocm(gpulab_libraries[0]);
    auto count = library ? reinterpret_cast<int (*)(int*)>(dlsym(library, "hipGetDeviceCount")) : nullptr;
    int devices = 0;
    _exit(count && count(&devices) == 0 && devices > 0 ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool uses_rocm() {
  const char* wish = setting("GPULAB_LIBRARY");
  if (strcmp(wish, "virtual") == 0) return false;
  bool driver = access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  if (strcmp(wish, "rocm") == 0) {
    if (rocm_works()) return true;
    fprintf(stderr, "GPULAB_LIBRARY=rocm, but no AMD GPU answers through ROCm's libamdhip64%s.\n"
            "Try: unset GPULAB_LIBRARY to use the virtual GPU.\n", driver ? "" : " (there is no /dev/kfd)");
    exit(127);
  }
  if (*wish) {
    fprintf(stderr, "GPULAB_LIBRARY is \"%s\"; it is \"virtual\" or \"rocm\".\n", wish);
    exit(127);
  }
  return driver && rocm_works();
}

#ifdef GPULAB_SHARED
// A library of a program: HIP's library is there already where start.py loads the program, and in a Python that imported
// gpulab. Else it is chosen as for programs, except that a process which is no Python cannot become one here: it is
// either a program before its launcher does that, or one that was linked by another linker.
static void* open_here(const gpulab_library& library) {
  if (void* found = dlopen(library.file, RTLD_NOW | RTLD_NOLOAD)) return found;
  const char* root = setting("ROCM_PATH");
  if (!is_virtual(root) || !dlsym(RTLD_DEFAULT, "Py_IsInitialized")) return nullptr;
  return open_in(root, library.file, RTLD_NOW);
}

__attribute__((constructor(101))) static void loaded() {
  void* here = open_here(gpulab_libraries[0]);
  if (!here) {
    if (uses_rocm()) link_rocm();
    return;
  }
  for (gpulab_library* each = gpulab_libraries; each->file; ++each) {
    void* found = open_here(*each);
    link(*each, found ? found : here);
  }
}
#else
// Loaded by dlopen, from start.py: the virtual libraries are there already, and the program's own constructors, which
// register its kernels, come after this one.
__attribute__((constructor(101))) static void loaded() {
  if (linked) return;
  for (gpulab_library* each = gpulab_libraries; each->file; ++each) link(*each, RTLD_DEFAULT);
}

// The gpulab that this Python finds; else the one that built this program.
static const char start[] =
    "import sys\n"
    "try:\n"
    "    from gpulab.programs import start\n"
    "except ImportError:\n"
    "    for name in [name for name in sys.modules if name.partition('.')[0] == 'gpulab']:\n"
    "        del sys.modules[name]\n"
    "    sys.path.insert(0, sys.argv[1])\n"
    "    try:\n"
    "        from gpulab.programs import start\n"
    "    except ImportError as error:\n"
    "        sys.exit(f'This program runs on gpulab\\'s virtual GPU, and {sys.executable} cannot import gpulab: '\n"
    "                 f'{error}.\\nSet GPULAB_PYTHON to the Python of the environment that has gpulab.')\n"
    "start.main(sys.argv[2:])\n";

static void become_python(int argc, char** argv) {
  static char self[4097];  // it is 0 behind the path
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) self[0] = 0;
  const char* chosen = setting("GPULAB_PYTHON");
  const char* const first = *chosen ? chosen : gpulab_python;
  const char* const tried[] = {first, *chosen ? nullptr : "python3"};
  const char* const before[] = {nullptr, "-P", "-c", start, gpulab_home, self};
  const int own = sizeof before / sizeof *before;
  const char** words = static_cast<const char**>(calloc(own + argc + 1, sizeof *words));
  if (words) {
    memcpy(words, before, sizeof before);
    memcpy(words + own, argv, argc * sizeof *argv);
  }
  for (const char* python : tried)
    if (python && words) {
      words[0] = python;
      execvp(python, const_cast<char**>(words));
    }
  fprintf(stderr, "This program runs on gpulab's virtual GPU, for which it needs Python with gpulab; %s does not start: "
          "%s.\nTry: set GPULAB_PYTHON to the Python of the environment that has gpulab.\n", first, strerror(errno));
  exit(127);
}

#endif

// Conversions to bfloat16, rounded once, to nearest even: Clang calls them, and its library for this machine lacks them.
template <typename T>
static __bf16 to_bfloat16(T wide) {
  float narrow = static_cast<float>(wide);
  unsigned bits = __builtin_bit_cast(unsigned, narrow);
  if (narrow != narrow) return __builtin_bit_cast(__bf16, static_cast<unsigned short>(bits >> 16 | 0x40));
  if (static_cast<T>(narrow) != wide) {  // keep in the last bit that something is lost, so that the next step rounds right
    bool beyond = wide < 0 ? static_cast<T>(narrow) < wide : static_cast<T>(narrow) > wide;
    bits = (beyond ? bits - 1 : bits) | 1;
  }
  bits += 0x7fff + (bits >> 16 & 1);
  return __builtin_bit_cast(__bf16, static_cast<unsigned short>(bits >> 16));
}
#define GPULAB_LIBRARY_FUNCTION extern "C" __attribute__((visibility("hidden"), used, weak))
GPULAB_LIBRARY_FUNCTION __bf16 __truncsfbf2(float x) { return to_bfloat16(x); }
GPULAB_LIBRARY_FUNCTION __bf16 __truncdfbf2(double x) { return to_bfloat16(x); }
#if defined(__x86_64__)
GPULAB_LIBRARY_FUNCTION __bf16 __truncxfbf2(long double x) { return to_bfloat16(x); }
#else
GPULAB_LIBRARY_FUNCTION __bf16 __trunctfbf2(long double x) { return to_bfloat16(x); }
#endif

#ifndef GPULAB_SHARED
// A program's own handler for SIGSEGV. start.py puts into gpulab_touched what says where host code touched device memory;
// that is said first, then the program's handler is called, which may leave by siglongjmp. So calls of sigaction and
// signal in the program's own objects come here.
typedef void (*touched)(int, siginfo_t*, void*);
extern "C" __attribute__((visibility("default"))) touched gpulab_touched = nullptr;
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);  // the C library's own name for it
static struct sigaction before_program, of_program;
static bool has_handler = false;

static void segmentation_fault(int number, siginfo_t* info, void* context) {
  if (gpulab_touched) gpulab_touched(number, info, context);
  if (of_program.sa_flags & SA_SIGINFO)
    of_program.sa_sigaction(number, info, context);
  else
    of_program.sa_handler(number);
}

extern "C" __attribute__((visibility("hidden"), used, weak)) int sigaction(int number, const struct sigaction* asked,
                                                                      struct sigaction* old) noexcept {
  if (number != SIGSEGV) return __sigaction(number, asked, old);
  const struct sigaction last = of_program;
  const bool had = has_handler;
  int result = 0;
  if (asked) {
    of_program = *asked;
    if (!had) __sigaction(SIGSEGV, nullptr, &before_program);
    bool own = (asked->sa_flags & SA_SIGINFO) || (asked->sa_handler != SIG_DFL && asked->sa_handler != SIG_IGN);
    struct sigaction ours = *asked;
    ours.sa_sigaction = segmentation_fault;
    ours.sa_flags |= SA_SIGINFO;
    has_handler = own;
    result = __sigaction(SIGSEGV, own ? &ours : &before_program, nullptr);
  }
  if (old) {
    *old = had ? last : (struct sigaction){};
    if (!had) old->sa_handler = SIG_DFL;
  }
  return result;
}

extern "C" __attribute__((visibility("hidden"), used, weak)) sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction asked = {}, old = {};
  asked.sa_handler = handler;
  asked.sa_flags = SA_RESTART;
  return sigaction(number, &asked, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// main, and the end of the process. An exception that nobody catches ends here, with the message of the C++ library.
extern "C" __attribute__((visibility("default"))) void gpulab_run(int argc, char** argv) noexcept {
  exit(gpulab_main(argc, argv, environ));
}

// Where __libc_start_main expects the function that runs the constructors: they run later, if they run here at all.
extern "C" __attribute__((visibility("hidden"), used)) void gpulab_no_constructors(int, char**, char**) {}

extern "C" __attribute__((visibility("hidden"), used)) int gpulab_launch(int argc, char** argv, char** environment) {
  if (!uses_rocm()) become_python(argc, argv);
  link_rocm();
  for (initializer* each = __init_array_start; each != __init_array_end; ++each) (*each)(argc, argv, environment);
  gpulab_run(argc, argv);
  return 0;
}
#endif
