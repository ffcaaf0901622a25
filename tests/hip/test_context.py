"""The runtime's state by itself: which code a fault or an exception becomes, and who is told of it."""

import pytest

from gpulab import errors
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import NO_LIMIT
from gpulab.virtual_gpu.runtime.runtime import Runtime
from tests.hip import fake_machine


@pytest.fixture
def runtime():
    return Runtime("gfx942,gfx1100", Arena(), fake_machine.FakeDevice)


def test_constants_are_the_codes_of_their_names(hip):
    other = {"InvalidPitch": "InvalidPitchValue", "InvalidCopyDirection": "InvalidMemcpyDirection",
             "LaunchTimeout": "LaunchTimeOut", "PeerAlreadyEnabled": "PeerAccessAlreadyEnabled",
             "PeerNotEnabled": "PeerAccessNotEnabled", "HostAlreadyRegistered": "HostMemoryAlreadyRegistered",
             "HostNotRegistered": "HostMemoryNotRegistered"}  # fmt: skip
    named = {error.name: int(error) for error in hip.hipError_t}
    for name, value in vars(codes).items():
        if name.isupper() and isinstance(value, int) and name not in ("SUCCESS", "INTERRUPTED"):
            camel = name.title().replace("_", "")
            assert value == named[f"hipError{other.get(camel, camel)}"], name
    assert codes.SUCCESS == 0
    assert max(named.values()) < codes.INTERRUPTED


def test_devices_are_listed_with_commas(monkeypatch):
    monkeypatch.setenv("GPULAB_DEVICES", " gfx1100 ,, gfx942")
    listed = Runtime(None, Arena(), fake_machine.FakeDevice)
    assert [(one.index, one.architecture.name) for one in listed.devices] == [(0, "gfx1100"), (1, "gfx942")]
    assert [one.architecture.name for one in Runtime("gfx90a", Arena()).devices] == ["gfx90a"]


@pytest.mark.parametrize(
    ("where", "address", "text"),
    [
        (True, 0x1000, "fill at cell.hip:3: out of bounds address 0x1000, workgroup (1, 0, 0), thread (3, 0, 0)."),
        (True, 0, "fill at cell.hip:3: out of bounds address 0x0, workgroup (1, 0, 0), thread (3, 0, 0)."),
        (False, None, "fill: out of bounds, workgroup (1, 0, 0), thread (3, 0, 0)."),
    ],
)
def test_a_fault_that_nobody_announces_is_written_to_standard_error(runtime, capsys, where, address, text):
    import dataclasses

    device = runtime.devices[1]
    fault = fake_machine.fault_of("fill", address=address)
    fault = fault if where else dataclasses.replace(fault, where=None)

    def shown():
        device.fault = fault
        assert runtime.surface(device) == 700
        return capsys.readouterr().err

    assert shown() == f"gpulab: virtual GPU 1 stopped kernel {text} gpulab.hip.check(code) tells more.\n"
    runtime.reports_faults = True
    assert shown() == ""
    announced = []
    runtime.announce = announced.append
    assert shown() == ""
    runtime.reports_faults = False
    assert shown() == ""
    assert announced == [fault, fault]


@pytest.mark.parametrize(("kind", "code"), [("bad jump", 719), ("grid barrier", 702), ("read-only", 700)])
def test_more_codes_of_faults(runtime, kind, code):
    runtime.reports_faults = True
    runtime.current.fault = fake_machine.fault_of("fill", kind)
    assert runtime.surface_now() == code
    assert runtime.current.fault is None


def test_a_kept_fault_is_reported_again(runtime):
    runtime.reports_faults = True
    first, second = fake_machine.fault_of("first"), fake_machine.fault_of("second", "trap")
    runtime.keep_fault()
    assert not runtime.has_news()
    for newer, code in ((None, 700), (second, 719)):
        runtime.current.fault = first
        assert runtime.has_news()
        assert runtime.surface_now() == 700
        assert not runtime.has_news()
        runtime.current.fault = newer
        runtime.keep_fault()
        assert runtime.surface_now() == code
        assert runtime.take_fault() is (newer or first)
    runtime.keep_fault()  # it was taken
    assert runtime.current.fault is None


def test_what_kernels_print_waits_for_the_next_synchronisation(runtime, capsys):
    first, second = runtime.devices
    first.printed, second.printed = ["a", "b\n"], ["c\n"]
    assert runtime.has_news()
    assert runtime.surface(second) == 0
    assert capsys.readouterr().out == "c\n"
    assert runtime.surface(first) == 0
    assert capsys.readouterr().out == "ab\n"
    assert not runtime.has_news()
    first.printed, second.printed = ["d\n"], ["e\n"]
    runtime.flush_printed()
    assert capsys.readouterr().out == "d\ne\n"
    runtime.flush_printed()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnsupportedInstruction("x"), 801),
        (errors.AssemblyError("x"), 200),
        (errors.LaunchLimitError("x"), 9),
        (errors.LaunchError("x"), 1),
        (errors.DeviceMemoryError("x"), 2),
        (errors.DeviceNotFound("x"), 100),
        (MemoryError(), 2),
        (ZeroDivisionError(), 999),
    ],
)
def test_an_exception_becomes_a_code_and_is_kept(runtime, error, code):
    assert runtime.failed("hipX", error) == code
    assert runtime.take_exception() is error
    assert runtime.take_exception() is None


def test_ctrl_c_inside_a_call_is_kept_apart(runtime):
    assert runtime.failed("hipX", KeyboardInterrupt()) == codes.INTERRUPTED
    assert runtime.take_exception() is None


@pytest.mark.parametrize("code", [1, 2, 200, 209])
def test_reasons_that_a_program_is_told(runtime, capsys, code):
    told = code != 1
    name = codes.NAMES[code]
    reason = Failure(code, "it is so.")
    assert runtime.failed("hipX", reason) == code
    assert capsys.readouterr().err == (f"gpulab: hipX returned {name}: it is so.\n" if told else "")
    assert runtime.take_exception() is reason
    assert runtime.failed("hipX", Failure(code)) == code
    assert capsys.readouterr().err == ""
    assert runtime.take_exception() is None
    heard = []
    runtime.explain = lambda *words: heard.append(words)
    assert runtime.failed("hipX", reason) == code
    assert heard == ([("hipX", name, "it is so.")] if told else [])
    runtime.explain, runtime.reports_faults = None, True
    assert runtime.failed("hipX", reason) == code
    assert capsys.readouterr().err == ""


def test_names_of_missing_calls(runtime):
    assert runtime.missing_call() == runtime.missing_call("hipblas") == ""
    runtime.missing["hip"] = lambda: "hipSomething"
    assert (runtime.missing_call(), runtime.missing_call("hipblas")) == ("hipSomething", "")


def test_a_listener_is_removed_once(runtime):
    heard = []
    runtime.add_listener(heard.append, profile=True)
    runtime.add_listener(heard.append, profile=True)
    runtime.remove_listener(print)
    runtime.remove_listener(heard.append)
    assert runtime.profiling
    runtime.remove_listener(heard.append)
    assert not runtime.profiling


@pytest.mark.parametrize(("text", "limit"), [("", None), (" ", None), ("1_000", 1000), ("5 ", 5), ("0", NO_LIMIT)])
def test_the_limit_of_the_environment(monkeypatch, text, limit):
    monkeypatch.setenv("GPULAB_INSTRUCTION_LIMIT", text)
    made = Runtime("gfx942", Arena(), fake_machine.FakeDevice)
    assert made.instruction_limit == limit
    made.set_instruction_limit(7)
    made.set_instruction_limit(None)
    assert made.instruction_limit == limit
    assert 1 << 60 < NO_LIMIT < 1 << 63


@pytest.mark.parametrize("text", ["-5", "²", "9223372036854775808", "1" * 5000])
def test_a_limit_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv("GPULAB_INSTRUCTION_LIMIT", text)
    with pytest.raises(errors.GpulabError, match=f"GPULAB_INSTRUCTION_LIMIT is '{text}'"):
        Runtime("gfx942", Arena(), fake_machine.FakeDevice)


def test_resetting_a_device_leaves_the_other(runtime, capsys):
    from tests.hip.conftest import code_object

    first, second = runtime.devices
    kept = {}
    for device in (first, second):
        runtime.set_device(device.index)
        module = runtime.modules.load(code_object(device.architecture.name).elf)
        runtime.streams.submit(device.null_stream, 5.0)
        kept[device] = (module, runtime.memory.allocate(64, "device"), runtime.streams.create(0),
                        runtime.streams.create_event(0))  # fmt: skip
        device.flags, device.fault, device.printed = 4, fake_machine.fault_of("x"), [f"{device.index}\n"]
        device.limits[0] = 5
        device.peers.add(1 - device.index)
        device.engines["in"] = device.null_stream.last
    runtime.reset(second)
    assert capsys.readouterr().out == "1\n"
    for device, gone in ((first, False), (second, True)):
        module, address, stream, event = kept[device]
        assert runtime.modules.is_loaded(module) is not gone
        assert (address in runtime.memory.blocks) is not gone
        for find, handle in ((runtime.streams.find, stream.handle), (runtime.streams.find_event, event.handle)):
            if gone:
                with pytest.raises(Failure):
                    find(handle)
            else:
                find(handle)
        assert (stream in device.streams) is not gone
        assert device.thread_stream in device.streams
        assert (device.null_stream.time == 0) is gone
        assert (device.flags, device.limits[0]) == ((0, 1024) if gone else (4, 5))
        assert (device.fault is None, not device.peers, not device.engines, not device.printed) == (gone,) * 4
        assert (device.used_bytes == 0) is gone


def test_a_reset_takes_mappings_textures_and_captures_of_its_device_alone(runtime):
    """Of a range with memory of both devices the other's part stays; a capture of the other device goes on."""
    from gpulab.virtual_gpu.runtime import structures

    first, second = runtime.devices
    mappings, page = runtime.mappings, 4096
    runtime.set_device(1)
    array = runtime.textures.allocate(channels_of_floats(), 4, 4, 0, 0)
    resource = structures.ResourceDescription(resType=0)
    resource.res.array = array
    texture = runtime.textures.create(resource, structures.TextureDescription(), None)
    surface = runtime.textures.create_surface(resource)
    streams = [runtime.streams.create(1)]
    runtime.captures.begin(streams[0], 0)
    runtime.set_device(0)
    streams.append(runtime.streams.create(1))
    runtime.captures.begin(streams[1], 0)
    address = mappings.reserve(2 * page, 0, 0)
    memory = [mappings.create(page, device, 0) for device in (first, second)]
    for place, one in enumerate(memory):
        mappings.map(address + place * page, page, 0, one.handle)
    runtime.reset(second)
    assert [part.memory for part in mappings._ranges[address].parts] == [memory[0]]
    mappings.release(memory[0].handle)
    for gone in (
        lambda: mappings.release(memory[1].handle), lambda: runtime.textures.described(texture),
        lambda: runtime.textures.described(surface, True), lambda: runtime.textures.array(array),
        lambda: runtime.streams.find(streams[0].handle),
    ):  # fmt: skip
        with pytest.raises(Failure):
            gone()
    assert [one.device for one in runtime.streams.capturing] == [first]
    assert runtime.captures.end(streams[1]).nodes == []


def channels_of_floats():
    from gpulab.virtual_gpu.runtime.textures import FLOAT, Channels

    return Channels(32, 1, FLOAT)
