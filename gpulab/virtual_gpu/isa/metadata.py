"""The metadata of an assembly text: `load` reads the YAML, and `descriptors` makes kernels of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpulab.errors import AssemblyError
from gpulab.virtual_gpu.isa.instruction import Argument, KernelDescriptor
from gpulab.virtual_gpu.isa.instruction_text import INTEGER, integer

_MOST_ARGUMENT_BYTES = 1 << 16


def load(text: str) -> dict[str, Any]:
    """The metadata block of an assembly text. Raises AssemblyError."""
    if not text.strip():
        return {}
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all scalars as text: a kernel may be called `no`
    try:
        document = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise AssemblyError("the .amdgpu_metadata block is not valid YAML.", why=str(error)) from None
    if not isinstance(document, dict):
        raise AssemblyError("the .amdgpu_metadata block is not a YAML mapping with the key amdhsa.kernels.")
    return document


def descriptors(
    documents: Mapping[str, Any], directives: Mapping[str, Mapping[str, int]], labels: Mapping[str, int], wave_size: int
) -> dict[str, tuple[KernelDescriptor, int]]:
    """Each kernel's descriptor and wave size.

    Args:
        documents: the metadata.
        directives: of each kernel, those between .amdhsa_kernel and .end_amdhsa_kernel.
        labels: the number of the instruction at each label.
        wave_size: the device's, for kernels that say nothing of theirs.

    Raises:
        AssemblyError: the metadata has something else than LLVM writes there.
    """
    by_name: dict[str, Mapping[str, Any]] = {}
    for entry in documents.get("amdhsa.kernels") or ():
        if not isinstance(entry, dict):
            raise AssemblyError("amdhsa.kernels in the metadata is not a list of mappings.")
        symbol = str(entry.get(".symbol", ""))
        by_name[symbol[:-3] if symbol.endswith(".kd") else symbol or str(entry.get(".name", ""))] = entry
    result = {}
    for name, given in directives.items():
        entry = by_name.get(name, {})

        def number(key: str, default: int, entry: Mapping[str, Any] = entry, name: str = name) -> int:
            return _number(name, key, entry.get(key, default))

        listed = entry.get(".args") or ()
        if not isinstance(listed, (list, tuple)) or not all(isinstance(each, dict) for each in listed):
            raise AssemblyError(f".args of kernel {name} in the metadata is not a list of mappings.")
        arguments = tuple(
            Argument(
                name=str(a.get(".name", "")),
                offset=number(".offset", 0, a),
                size=number(".size", 0, a),
                kind=str(a.get(".value_kind", "by_value")),
                type_name=str(a.get(".type_name", "")),
                address_space=str(a.get(".address_space", "")),
            )
            for a in listed
        )
        if any(not 0 <= a.offset <= a.offset + a.size <= _MOST_ARGUMENT_BYTES for a in arguments):
            raise AssemblyError(f"the metadata of kernel {name} has an argument outside of its argument block.")
        required = entry.get(".reqd_workgroup_size") or ("0", "0", "0")
        if not isinstance(required, (list, tuple)) or len(required) != 3:
            raise AssemblyError(f".reqd_workgroup_size of kernel {name} in the metadata is not three numbers.")
        x, y, z = (_number(name, ".reqd_workgroup_size", each) for each in required)
        size = (x, y, z) if entry.get(".reqd_workgroup_size") else None
        dynamic = entry.get(".uses_dynamic_stack")
        descriptor = KernelDescriptor(
            name=name,
            entry=labels[name],
            directives=given,
            arguments=arguments,
            kernarg_size=number(".kernarg_segment_size", given.get("kernarg_size", 0)),
            lds_bytes=number(".group_segment_fixed_size", given.get("group_segment_fixed_size", 0)),
            private_bytes=number(".private_segment_fixed_size", given.get("private_segment_fixed_size", 0)),
            vgprs=number(".vgpr_count", given.get("next_free_vgpr", 0)),
            agprs=number(".agpr_count", 0),
            sgprs=number(".sgpr_count", given.get("next_free_sgpr", 0)),
            max_flat_workgroup_size=number(".max_flat_workgroup_size", 1024),
            uses_dynamic_stack=bool(given.get("uses_dynamic_stack", dynamic == "true")),
            required_workgroup_size=size,
            vgpr_spills=number(".vgpr_spill_count", 0),
            sgpr_spills=number(".sgpr_spill_count", 0),
        )
        default = 64 if given.get("wavefront_size32") == 0 else wave_size
        result[name] = descriptor, number(".wavefront_size", default)
    return result


def _number(kernel: str, key: str, value: object) -> int:
    """A number of a kernel's metadata. Raises AssemblyError for anything else."""
    if not INTEGER.fullmatch(str(value)):
        raise AssemblyError(f"{key} of kernel {kernel} in the metadata is {value!r}, not a number.")
    return integer(str(value))
