"""choose-device: the program asks all devices for their properties, chooses by a rule, and runs a kernel there."""

from gpulab import architectures
from gpulab.grading.exercise import Cause
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import limited


FURTHER = ("gfx950", "gfx1151")
"""Devices with more memory than those of the course, and fewer threads at a time; the second has 96 GiB exactly."""


def devices(further=FURTHER):
    """(memory in bytes, wave size, threads at a time, gfx name) of each device, as HIP counts them."""
    import gpulab

    here = [device.arch for device in gpulab.devices() if device.virtual]
    for arch in map(architectures.get, (*here, *further)):
        yield arch.memory_bytes, arch.wave_size, arch.multiprocessors * arch.max_threads_per_unit, arch.name


def fitting(gib, wave, further=()):
    """The devices with enough memory and the right wave size."""
    return [each for each in devices(further) if each[0] >= gib << 30 and wave in (0, each[1])]


def right(gib, wave, further=()):
    """What the program must print."""
    fit = fitting(gib, wave, further)
    if not fit:
        return "no device"
    _, lanes, threads, arch = max(fit, key=lambda each: each[2])
    return f"{arch}: {threads} threads at a time, waves of {lanes}"


def case(gib, wave, exit_code=0, further=()):
    def expected(stdout):
        wanted = right(gib, wave, further)
        where = f"on a machine that has {' and '.join(further)}, too, " if further else ""
        return "" if stdout.strip() == wanted else f"{where}it should be\n  {wanted}\nbut is\n  {stdout.strip()[:200]}"

    return ProgramCase(
        arguments=(str(gib), str(wave)),
        expected=expected,
        exit_code=exit_code,
        parameters={"gib": gib, "wave": wave},
        computed=() if exit_code else ((int(right(gib, wave, further).split()[-1]),),),
        devices=further,
    )


def drawn(random):
    """Memory around what the devices have, and either wave size or none."""
    memory = [each[0] >> 30 for each in devices()]
    for wave, further in ((0, ()), (32, ()), (64, ()), (0, FURTHER), (32, FURTHER)):
        gib = int(random.integers(2, max(memory) + 9))
        yield case(gib, wave, exit_code=4 if right(gib, wave, further) == "no device" else 0, further=further)


def asked(o):
    return o.case.parameters["gib"], o.case.parameters["wave"], o.case.devices


def found(o):
    """The gfx name and the rest of what was printed."""
    name, _, rest = o.stdout.strip().partition(":")
    return name, rest


def another_device(o):
    """Is it another device than the right one that is named, or none?"""
    return found(o)[0] != right(*asked(o)).split(":")[0]


def first_that_fits(o):
    """The name of the first device that fits; number 0 is the one that the program was started with."""
    gib, wave, further = asked(o)
    in_order = sorted(devices(further), key=lambda each: each[3] != o.arch)
    return next((arch for memory, lanes, _, arch in in_order if memory >= gib << 30 and wave in (0, lanes)), "")


def known_threads(o):
    """Is the number of threads that is printed that of a device?"""
    return any(f" {threads} threads" in o.stdout for _, _, threads, _ in devices())


exercise = ProgramExercise(
    id="choose-device",
    title="choose a device by its properties",
    lesson="18_choosing",
    section="Environment variables",
    minutes=20,
    cases=(
        case(1, 0),
        case(20, 32),
        case(25, 32, exit_code=4),  # more than the device has, though less if a GB were 10^9 bytes
        case(100, 0),
        case(1000, 0, exit_code=4),
        case(1, 0, further=FURTHER),
        case(20, 32, further=FURTHER),
        case(96, 32, further=FURTHER),
        case(200, 64, further=FURTHER),
    ),
    drawn=drawn,
    causes=(
        Cause(
            "device-not-set",
            "the right device is named, but the kernel ran on another one",
            lambda o: not o.uses("hipSetDevice") and right(*asked(o)).split(",")[0] in o.stdout,
            "Device number 0 is in use until a program says otherwise.",
            "Which call makes another device the one in use, and when must it come?",
        ),
        Cause(
            "memory-in-32-bits",
            "a device is left out although it has enough memory, or chosen although it has not",
            lambda o: o.uses(r"\(\s*(int|unsigned)\s*\)\s*\w+\.totalGlobalMem") and another_device(o),
            "Bytes of memory need 64 bits: 4 GiB is one more than the largest unsigned int.",
            "Of which type is totalGlobalMem, and of which is what you compare it with?",
        ),
        Cause(
            "none-not-told",
            "no device fits, and the program does not say so",
            lambda o: not fitting(*asked(o)) and found(o)[0] != "no device" and not known_threads(o),
            "The number of threads that is printed is that of no device: it was never set.",
            "Which value has your number of the best device if the loop finds none? Test it behind the loop.",
        ),
        Cause(
            "whole-name",
            "more of the name is printed than what stands before its first colon",
            lambda o: ":" in found(o)[1].partition(": ")[0],
            "gcnArchName may have features behind the name, each after a colon.",
            "How many letters of gcnArchName does your program print, and where is its first colon?",
        ),
        Cause(
            "wave-ignored",
            "the device has another wave size than the argument",
            lambda o: any(name == found(o)[0] and asked(o)[1] not in (0, wave) for _, wave, _, name in devices()),
            "A second argument other than 0 is the wave size that the device must have.",
            "Which property is it?",
        ),
        Cause(
            "too-little-memory",
            "the device has less memory than the argument says",
            lambda o: any(name == found(o)[0] and memory < asked(o)[0] << 30 for memory, _, _, name in devices()),
            "The first argument is in GiB: 1 << 30 bytes each.",
            "Print both numbers that your program compares, for each device.",
        ),
        Cause(
            "none-found",
            "no device is found, though there is one that fits",
            lambda o: found(o)[0] == "no device" and another_device(o),
            "A device is left out that has the memory and the wave size, or it is found and not kept.",
            "Print for each device what your conditions see, and what you keep after it.",
        ),
        Cause(
            "by-clock",
            "the number that is printed is the number of threads of no device",
            lambda o: (
                found(o)[1] != ""
                and "threads" in o.stdout
                and not known_threads(o)
            ),
            "The rule is multiprocessors times threads of a multiprocessor.",
            "Compute it for each device and print it.",
        ),
        Cause(
            "takes-the-first",
            "the first device that fits is taken, not the best of them",
            lambda o: another_device(o) and found(o)[0] == first_that_fits(o),
            "The order of devices differs from machine to machine.",
            "How do you find the largest of several numbers?",
        ),
        Cause(
            "not-the-most-threads",
            "a device that fits is taken, and another one that fits can have more threads at a time",
            lambda o: another_device(o) and found(o)[0] in (arch for *_, arch in fitting(*asked(o))),
            "The device with the most memory, or with the highest clock rate, need not be the one with the most threads.",
            "Which number do you compare with the best so far?",
        ),
    ),
    requirements=(
        limited(
            "fixed-name",
            "gfx names in the source",
            lambda o: sum(o.source.count(f'"{arch}') for *_, arch in devices()),
            at_most=0,
            title="no device's name stands in the program",
            next_step="Choose by properties: other devices have other names.",
        ),
    ),
    hints=(
        "A loop over hipGetDeviceCount devices, hipGetDeviceProperties for each; leave out those that do not fit, "
        "and keep "
        "the best of the others.",
        "totalGlobalMem is in bytes, a size_t; a GiB is 1 << 30 of them. The threads at a time are "
        "multiProcessorCount times "
        "maxThreadsPerMultiProcessor.",
        "After the loop: no device, print it and return 4. Otherwise hipSetDevice(best), then allocate, launch, "
        "copy. The "
        'name is gcnArchName up to the colon: strcspn(name, ":") counts the letters.',
    ),
)
