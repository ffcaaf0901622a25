// In place of LLVM's library: the functions that decode.c calls, for a device of five instructions.
//
// The first byte of an instruction says how long it is: 1 is four bytes, 2 eight, 3 twelve; 4 is read as eight bytes
// even where fewer are left. Anything else is no instruction. The text is "\tNAME\n0xBYTES", with the bytes in order.
// The second byte says what its assembler makes of the text:
//     e0 other bytes   e1 refused: an error   e2 a warning   e3 no object   e4 it failed   e5 no code   e6 one byte less
// Each call is noted in the file that the environment variable CALLS names.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Any;
enum { ROOM = 1 << 20, HEAD = 64, NAMES = 32, TABLE = 192 };
static const char names[NAMES] = "\0.text\0.names\0";
static FILE *calls;
static const char *assembly;
static size_t assembly_length;
static void (*handler)(Any, void *);
static void *handed;
static uint8_t made[ROOM];
static size_t made_size;

#define NOTE(...) (calls = calls ? calls : fopen(getenv("CALLS"), "w"), fprintf(calls, __VA_ARGS__), fflush(calls))
#define PART(name) void LLVMInitializeAMDGPU##name(void) { NOTE("part " #name "\n"); }
PART(TargetInfo) PART(Target) PART(TargetMC) PART(AsmPrinter) PART(AsmParser) PART(Disassembler)

Any LLVMCreateDisasmCPUFeatures(const char *triple, const char *cpu, const char *features, void *data, int kind,
                                void *information, void *lookup) {
    NOTE("disassembler %s %s %s %d %d %d %d\n", triple, cpu, features, data != NULL, kind, information != NULL,
         lookup != NULL);
    return strcmp(cpu, "unknown") ? "disassembler" : NULL;
}
int LLVMGetTargetFromTriple(const char *triple, Any *target, char **message) {
    NOTE("target %s\n", triple);
    *target = "target", *message = NULL;
    return getenv("NO_TARGET") != NULL;
}
Any LLVMCreateTargetMachine(Any target, const char *triple, const char *cpu, const char *features, int level,
                            int relocation, int model) {
    NOTE("machine %s %s %s %s %d %d %d\n", (char *)target, triple, cpu, features, level, relocation, model);
    return "machine";
}
size_t LLVMDisasmInstruction(Any disassembler, const uint8_t *bytes, uint64_t size, uint64_t address, char *text,
                             size_t room) {
    static const char *const of[] = {"", "one", "two", "three", "four"};
    (void)address;
    size_t length = bytes[0] == 4 ? 8 : bytes[0] < 4 ? 4 * bytes[0] : 0;
    if (strcmp(disassembler, "disassembler") || room != 512 || length == 0 || (length > size && bytes[0] != 4)) return 0;
    char *at = text + sprintf(text, "\t%s\n0x", of[bytes[0]]);
    for (size_t i = 0; i < length && i < size; i++) at += sprintf(at, "%02x", bytes[i]);
    return length;
}
Any LLVMContextCreate(void) { return "context"; }
void LLVMContextSetDiagnosticHandler(Any context, void (*to)(Any, void *), void *with) {
    (void)context;
    handler = to, handed = with;
}
int LLVMGetDiagInfoSeverity(Any diagnostic) { return *(char *)diagnostic == 'w'; }
Any LLVMModuleCreateWithNameInContext(const char *name, Any context) {
    NOTE("module %s %s\n", name, (char *)context);
    return "module";
}
void LLVMSetTarget(Any module, const char *triple) { NOTE("%s for %s\n", (char *)module, triple); }
void LLVMSetModuleInlineAsm2(Any module, const char *text, size_t length) {
    (void)module;
    assembly = text, assembly_length = length;
    NOTE("assemble %.*s", (int)length, text);
}
static void put(size_t at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) made[at + i] = (uint8_t)(value >> 8 * i);
}
int LLVMTargetMachineEmitToMemoryBuffer(Any machine, Any module, int kind, char **message, Any *object) {
    NOTE("emit %s %s %d\n", (char *)machine, (char *)module, kind);
    size_t begin = HEAD + NAMES + TABLE, at = begin, end = begin;
    int failed = 0, without = 0, none = 0, less = 0;
    char line[600];
    memset(made, 0, sizeof made);
    for (const char *p = assembly; p < assembly + assembly_length; p += strlen(line) + 1) {
        size_t length = strcspn(p, "\n");
        memcpy(line, p, length), line[length] = 0;
        char *hex = strstr(line, " 0x");
        if (!strncmp(line, ".org ", 5)) at = begin + strtoull(line + 5, NULL, 10);
        end = at > end ? at : end;
        for (int i = 0; hex && hex[3 + 2 * i]; i++) {
            char pair[3] = {hex[3 + 2 * i], hex[4 + 2 * i], 0};
            uint8_t byte = (uint8_t)strtoul(pair, NULL, 16);
            made[at + i] = byte;
            if (i == 1 && byte == 0xe0) made[at] ^= 0x40;
            if (i == 1 && (byte == 0xe1 || byte == 0xe2)) handler(byte == 0xe1 ? "error" : "warning", handed);
            if (i == 1) without |= byte == 0xe3, failed |= byte == 0xe4, none |= byte == 0xe5, less |= byte == 0xe6;
        }
    }
    put(40, HEAD + NAMES, 8), put(60, 3, 2), put(62, 2, 2);  // three sections; the second has the names
    memcpy(made + HEAD, names, NAMES);
    size_t text = HEAD + NAMES + 64, second = text + 64;
    put(text, none ? 0 : 1, 4), put(text + 24, begin, 8), put(text + 32, end - begin - (size_t)less, 8);
    put(second, 7, 4), put(second + 24, HEAD, 8), put(second + 32, NAMES, 8);
    made_size = end;
    *message = NULL, *object = without ? NULL : "object";
    return failed;
}
Any LLVMGetBufferStart(Any object) { return (void)object, made; }
size_t LLVMGetBufferSize(Any object) { return (void)object, made_size; }
void LLVMDisposeMemoryBuffer(Any object) { NOTE("end %s\n", (char *)object); }
void LLVMDisposeModule(Any module) { NOTE("end %s\n", (char *)module); }
void LLVMContextDispose(Any context) { NOTE("end %s\n", (char *)context); }
