// Machine code to assembly text, and back again for comparison, by LLVM's own disassembler and assembler.
//
//     decode LLVM_LIBRARY STAND_IN... TARGET FEATURES ANSWER < request
//
// The request is a list of pieces of code: 8 bytes address, 8 bytes size (both little-endian), then the bytes. For each
// instruction the file ANSWER gets a line "ADDRESS SIZE TEXT", address and size as hexadecimal numbers. The text is "?"
// for bytes that are no instruction (four of them at a time), and begins with "!" where assembling it again did not
// give the same bytes. The stand-ins are loaded first: see sysdeps.c. It runs in a process of its own, as LLVM is not
// made for hostile bytes.

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIPLE "amdgcn-amd-amdhsa"
enum { LONGEST_TEXT = 512, OBJECT_FILE = 1, OPT_NONE = 0, RELOC_PIC = 2, CODE_MODEL_DEFAULT = 0 };

typedef void *Any;

static Any llvm;

static Any named(const char *name) {
    Any found = dlsym(llvm, name);
    if (found == NULL) {
        fprintf(stderr, "LLVM's library has no %s\n", name);
        exit(3);
    }
    return found;
}

#define CALL(type, name, ...) (*(type(*)(__VA_ARGS__))named(name))

struct Instruction {
    uint64_t address;
    uint32_t size;
    bool decoded, same;
    const uint8_t *bytes;
    char text[LONGEST_TEXT];
};

struct Piece {
    uint64_t address, size;
    uint8_t *bytes;
    struct Instruction *instructions;
    size_t count;
};

static uint64_t number(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);  // both are little-endian
    return value;
}

static void *allocated(size_t size) {
    void *found = calloc(size, sizeof(char));
    if (found == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(3);
    }
    return found;
}

static Any disassembler;

static struct Instruction read_one(const uint8_t *bytes, uint64_t size, uint64_t address) {
    size_t (*next)(Any, const uint8_t *, uint64_t, uint64_t, char *, size_t) =
        (size_t(*)(Any, const uint8_t *, uint64_t, uint64_t, char *, size_t))named("LLVMDisasmInstruction");
    struct Instruction made = {.address = address, .size = 4, .bytes = bytes};
    char text[LONGEST_TEXT] = "";
    size_t taken = next(disassembler, bytes, size, address, text, sizeof text);
    if (taken != 0 && taken <= size) {
        made.decoded = true;
        made.size = (uint32_t)taken;
        for (char *p = text; *p; p++)
            if (*p == '\t' || *p == '\n') *p = ' ';
        snprintf(made.text, sizeof made.text, "%s", text + strspn(text, " "));
    }
    return made;
}

static void decode(struct Piece *piece) {
    piece->instructions = allocated(piece->size / 4 * sizeof(struct Instruction));
    for (uint64_t at = 0; at + 4 <= piece->size; at += piece->instructions[piece->count++].size)
        piece->instructions[piece->count] = read_one(piece->bytes + at, piece->size - at, piece->address + at);
}

// Notes that LLVM refused a text, and prints nothing.
static void ignore(Any diagnostic, void *refused) {
    if (CALL(int, "LLVMGetDiagInfoSeverity", Any)(diagnostic) == 0) *(bool *)refused = true;
}

static const uint8_t *section(const uint8_t *elf, size_t size, const char *name, uint64_t *length) {
    if (size < 64) return NULL;
    uint64_t table = number(elf + 40);
    unsigned count = elf[60] | elf[61] << 8, names = elf[62] | elf[63] << 8;
    if (table > size || (size - table) / 64 < count || names >= count) return NULL;
    const uint8_t *strings = elf + table + 64 * names;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *header = elf + table + 64 * i;
        uint64_t at = number(strings + 24) + (header[0] | header[1] << 8 | header[2] << 16);
        if (at < size && strncmp((const char *)elf + at, name, size - at) == 0) {
            *length = number(header + 32);
            return number(header + 24) + *length <= size ? elf + number(header + 24) : NULL;
        }
    }
    return NULL;
}

static Any machine;

// Assembles a text; whether it could, with the first `size` bytes of its code in `into`.
static bool assembled(const char *text, size_t length, uint8_t *into, uint64_t size) {
    Any context = CALL(Any, "LLVMContextCreate", void)();
    bool refused = false;
    CALL(void, "LLVMContextSetDiagnosticHandler", Any, void (*)(Any, void *), void *)(context, ignore, &refused);
    Any module = CALL(Any, "LLVMModuleCreateWithNameInContext", const char *, Any)("again", context);
    CALL(void, "LLVMSetTarget", Any, const char *)(module, TRIPLE);
    CALL(void, "LLVMSetModuleInlineAsm2", Any, const char *, size_t)(module, text, length);
    char *message = NULL;
    Any object = NULL;
    int failed = CALL(int, "LLVMTargetMachineEmitToMemoryBuffer", Any, Any, int, char **, Any *)(
        machine, module, OBJECT_FILE, &message, &object);
    bool good = false;
    if (!failed && !refused && object != NULL) {
        const uint8_t *elf = CALL(const uint8_t *, "LLVMGetBufferStart", Any)(object);
        uint64_t length_of_code;
        const uint8_t *code =
            section(elf, CALL(size_t, "LLVMGetBufferSize", Any)(object), ".text", &length_of_code);
        if (code != NULL && length_of_code >= size) {
            memcpy(into, code, size);
            good = true;
        }
    }
    if (object != NULL) CALL(void, "LLVMDisposeMemoryBuffer", Any)(object);
    CALL(void, "LLVMDisposeModule", Any)(module);
    CALL(void, "LLVMContextDispose", Any)(context);
    return good;
}

// Whether an instruction was assembled to its own bytes. Into sources that an instruction of eight bytes (VOP3) does
// not have, the second in bits 41 to 49 and the third in bits 50 to 58, LLVM up to 22 writes 0, and from 23 on the
// number of the constant 0: no operand reads them. A literal may follow the eight bytes.
static bool same(const struct Instruction *one, const uint8_t *made, const uint8_t *given) {
    const uint64_t unused = 0x80ull << 41 | 0x80ull << 50;
    if (!memcmp(made, given, one->size)) return true;
    if (one->size < 8 || memcmp(made + 8, given + 8, one->size - 8)) return false;
    uint64_t other = number(made) ^ number(given);
    if ((other & ~unused) || (number(given) & other)) return false;
    struct Instruction again = read_one(made, one->size, one->address);
    return again.decoded && again.size == one->size && !strcmp(again.text, one->text);
}

// Assembles these instructions and says of each whether its bytes came again. Each stands at a place of its own, whatever
// became of those before it. Where LLVM refuses the whole, each half is tried for itself.
static void compare(struct Instruction **list, size_t first, size_t end) {
    if (first == end) return;
    char *text = allocated((end - first) * (LONGEST_TEXT + 64) + 64), *at = text;
    uint64_t size = 0;
    at += sprintf(at, ".text\n");
    for (size_t i = first; i < end; size += list[i++]->size)
        at += sprintf(at, ".org %llu\n%s\n", (unsigned long long)size, list[i]->text);
    at += sprintf(at, ".org %llu\n", (unsigned long long)size);
    uint8_t *made = allocated(size);
    bool good = assembled(text, (size_t)(at - text), made, size);
    free(text);
    uint64_t place = 0;
    for (size_t i = first; good && i < end; place += list[i++]->size)
        list[i]->same = same(list[i], made + place, list[i]->bytes);
    free(made);
    if (!good && end - first > 1) {
        size_t middle = first + (end - first) / 2;
        compare(list, first, middle);
        compare(list, middle, end);
    }
}

static int order(const void *one, const void *other) {
    const struct Instruction *a = *(struct Instruction *const *)one, *b = *(struct Instruction *const *)other;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->size);
}

// Compares each instruction of a piece. None names another place of the code, so that those of the same bytes are one:
// a program has many of these, and padding between functions may be a word that LLVM's assembler refuses.
static void compare_all(struct Piece *piece) {
    struct Instruction **list = allocated((piece->count + 1) * sizeof(struct Instruction *));
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < piece->count; i++)
        if (piece->instructions[i].decoded) list[count++] = &piece->instructions[i];
    qsort(list, count, sizeof *list, order);
    struct Instruction **once = allocated((count + 1) * sizeof(struct Instruction *));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || order(&list[i - 1], &list[i])) once[kept++] = list[i];
    compare(once, 0, kept);
    size_t of = 0;
    for (size_t i = 0; i < count; i++) {
        if (order(&once[of], &list[i])) of++;
        list[i]->same = once[of]->same;
    }
    free(once);
    free(list);
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    for (int i = 2; i < count - 3; i++)
        if (dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
    llvm = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
    if (llvm == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    const char *cpu = arguments[count - 3], *features = arguments[count - 2];
    FILE *answer = fopen(arguments[count - 1], "w");
    if (answer == NULL) {
        perror(arguments[count - 1]);
        return 3;
    }
    static const char *parts[] = {"TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser", "Disassembler"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[LONGEST_TEXT];
        snprintf(name, sizeof name, "LLVMInitializeAMDGPU%s", parts[i]);
        CALL(void, name, void)();
    }
    disassembler = CALL(Any, "LLVMCreateDisasmCPUFeatures", const char *, const char *, const char *, void *, int,
                            void *, void *)(TRIPLE, cpu, features, NULL, 0, NULL, NULL);
    Any target = NULL;
    char *message = NULL;
    int (*find)(const char *, Any *, char **) =
        (int (*)(const char *, Any *, char **))named("LLVMGetTargetFromTriple");
    if (disassembler == NULL || find(TRIPLE, &target, &message)) {
        fprintf(stderr, "LLVM's library knows no %s\n", cpu);
        return 3;
    }
    machine = CALL(Any, "LLVMCreateTargetMachine", Any, const char *, const char *, const char *, int, int, int)(
        target, TRIPLE, cpu, features, OPT_NONE, RELOC_PIC, CODE_MODEL_DEFAULT);

    uint8_t header[16];
    while (fread(header, 1, sizeof header, stdin) == sizeof header) {
        struct Piece piece = {.address = number(header), .size = number(header + 8)};
        piece.bytes = allocated(piece.size);
        if (fread(piece.bytes, 1, piece.size, stdin) != piece.size) return 2;
        decode(&piece);
        compare_all(&piece);
        for (size_t i = 0; i < piece.count; i++) {
            struct Instruction *one = &piece.instructions[i];
            const char *mark = one->decoded && !one->same ? "!" : "";
            fprintf(answer, "%llx %x %s%s\n", (unsigned long long)one->address, one->size, mark,
                    one->decoded ? one->text : "?");
        }
        free(piece.instructions);
        free(piece.bytes);
    }
    _Exit(fclose(answer) ? 3 : 0);  // LLVM's own ends take time
}
