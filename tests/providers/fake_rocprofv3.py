"""Stands in for ROCm's rocprofv3: takes its command line, repeats the launches on the virtual library in this process
and writes the counters of the virtual device as rocprofv3 would, HIP's own copy kernel among them.

FAKE_LIMIT: names that one run can count; more are refused, as rocprofv3 refuses them. FAKE_WITHOUT: a name that gets no
row. FAKE_EXIT: end at once with this code.
"""

import argparse
import os
import sys
from pathlib import Path

HEADER = (
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
    '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
)


def main() -> int:
    own, _, application = " ".join(sys.argv[1:]).partition(" -- ")
    ask = argparse.ArgumentParser()
    ask.add_argument("--pmc", nargs="+", required=True)
    ask.add_argument("--mangled-kernels", action="store_true", required=True)
    ask.add_argument("--output-format", choices=["csv"], required=True)
    ask.add_argument("-d", required=True)
    ask.add_argument("-o", required=True)
    asked = ask.parse_args(own.split())
    python, option, module, library, *folders = application.split()
    assert (option, module) == ("-m", "gpulab.providers.rocm.replay"), application
    assert os.path.exists(python)
    assert folders
    if "FAKE_EXIT" in os.environ:
        print("rocprofv3 cannot open /dev/kfd", file=sys.stderr)
        return int(os.environ["FAKE_EXIT"])
    if len(asked.pmc) > int(os.environ.get("FAKE_LIMIT", "100")):
        print("Request exceeds the capabilities of the hardware to collect", file=sys.stderr)
        return 1

    from gpulab import metrics
    from gpulab.providers.rocm import replay, snapshot
    from gpulab.virtual_gpu import runtime

    records = []
    runtime.instance().add_listener(records.append, True)
    if replay.main([library, *folders]):
        return 1
    rows = [HEADER]
    for number, (record, folder) in enumerate(zip(records, folders, strict=True)):
        symbol = snapshot.load(Path(folder)).symbol
        x, y, z = record.block
        threads = x * y * z
        grid = record.grid[0] * record.grid[1] * record.grid[2] * threads
        names = [name for name in asked.pmc if name != os.environ.get("FAKE_WITHOUT")]
        for place, kernel, size, value in (
            (2 * number + 1, "__amd_rocclr_copyBuffer.kd", 512, lambda name: 1.0),
            (2 * number + 2, f"{symbol}.kd", grid, lambda name, record=record: metrics.value(record, name)),
        ):
            rows += [
                f'{place},{place},"Agent 1",1,10,10,{size},1,"{kernel}",{threads},0,0,8,0,16,"{name}",{value(name):f},'
                f"{1000 * place},{1000 * place + 500}"
                for name in names
            ]
    output = Path(asked.d)
    output.mkdir(exist_ok=True)
    (output / f"{asked.o}_counter_collection.csv").write_text("\n".join(rows) + "\n")
    (output / f"{asked.o}_agent_info.csv").write_text('"Node_Id"\n0\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
