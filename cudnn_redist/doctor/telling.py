"""A diagnosis as people read it, as JSON, and as Markdown for a bug report. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import CODES, faults
from .support import support_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .copies import Copy
    from .diagnosing import Diagnosis
    from .frameworks import Consumer
    from .support import Support

__all__ = ["diagnosis_facts", "markdown", "plain_text"]


def plain_text(diagnosis: Diagnosis) -> str:
    """Return the diagnosis for a terminal: what there is, who would load which, what is wrong and how to mend it."""
    lines: list[str] = []
    for title, rows in _sections(diagnosis):
        lines += [title, *(f"  {row}" for row in rows), ""]
    lines += ["What is to be said", *_found_lines(diagnosis)]
    return "\n".join(lines)


def markdown(diagnosis: Diagnosis, version: str, redacted: Callable[[str], str]) -> str:
    """Return the diagnosis as Markdown, with everything about the user replaced by ``redacted``."""
    lines = [f"### cudnn-redist {version} doctor", ""]
    for title, rows in _sections(diagnosis):
        lines += [f"**{title}**", "", "```text", *rows, "```", ""]
    lines += [
        "**What is to be said**",
        "",
        "```text",
        *(line.strip() for line in _found_lines(diagnosis)),
        "```",
    ]
    # What closes a block of code would let a path speak outside it.
    return redacted(
        "\n".join(line if line.startswith("```") else line.replace("```", "'''") for line in lines)
    )


def diagnosis_facts(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return everything as JSON: the schema that README documents."""
    hardware = diagnosis.hardware
    return {
        "healthy": not faults(diagnosis.findings),
        "system": {
            "root": str(diagnosis.system.root),
            "machine": diagnosis.system.machine,
            "jetpack": diagnosis.jetpack,
            "driver": hardware.driver,
            "driver_cuda": _dotted(hardware.driver_cuda),
            "toolkit": hardware.toolkit,
            "gpus": [{"name": gpu.name, "capability": _dotted(gpu.capability)} for gpu in hardware.gpus],
            "pythons": [str(python.program) for python in diagnosis.pythons],
        },
        "copies": [_copy_facts(copy) for copy in diagnosis.copies],
        "consumers": [_consumer_facts(consumer, diagnosis) for consumer in diagnosis.consumers],
        "processes": [
            {"pid": each.pid, "name": each.name, "exit_code": each.ended, "mapped": list(each.paths)}
            for each in diagnosis.mapped
        ],
        "findings": [finding.facts() for finding in diagnosis.findings],
    }


def _sections(diagnosis: Diagnosis) -> Iterator[tuple[str, list[str]]]:
    yield "This system", list(_system(diagnosis))
    copies = [_copy_row(copy) for copy in diagnosis.copies]
    yield "cuDNNs that are here", copies or ["none"]
    consumers = [row for consumer in diagnosis.consumers for row in _consumer_rows(consumer, diagnosis)]
    yield "Who would load which, and why", consumers or ["no program here loads cuDNN by the loader's ways"]
    for process in diagnosis.mapped:
        ending = "" if process.ended is None else f", ended with {process.ended}"
        apart = diagnosis.mapped_apart
        rows = [f"{apart[path] or '9.?':<8} {path}" if path in apart else path for path in process.paths]
        yield f"Mapped by process {process.pid} ({process.name}){ending}", rows or ["nothing of cuDNN"]


def _system(diagnosis: Diagnosis) -> Iterator[str]:
    hardware, system = diagnosis.hardware, diagnosis.system
    runs = f", runs CUDA up to {_dotted(hardware.driver_cuda)}" if hardware.driver_cuda else ""
    there = hardware.driver or ("of unknown version" if hardware.driver_cuda else "none")
    yield f"driver    {there}{runs}"
    gpus = [f"{gpu.name} (compute capability {_dotted(gpu.capability)})" for gpu in hardware.gpus]
    yield f"GPUs      {', '.join(gpus) or 'none that the driver shows'}"
    yield f"toolkit   {hardware.toolkit or 'none'}"
    if diagnosis.jetpack:
        yield f"Jetson    Linux {diagnosis.jetpack}"
    for name in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
        if system.environ.get(name):
            yield f"{name}  {system.environ[name]}"
    yield from (f"python    {python.program}" for python in diagnosis.pythons)


def _copy_row(copy: Copy) -> str:
    cuda = f"CUDA {copy.cuda}" if copy.cuda else "CUDA ?"
    origins = "; ".join(dict.fromkeys(f"{origin.kind} {origin.name}" for origin in copy.origins))
    return f"{copy.version or f'{copy.major}.?':<8} {cuda:<8} {copy.directory}" + (
        f"  ({origins})" if origins else ""
    )


def _consumer_rows(consumer: Consumer, diagnosis: Diagnosis) -> Iterator[str]:
    copy = diagnosis.copy_for(consumer)
    asks = f", asks for {consumer.asked.text}" if consumer.asked else ""
    yield f"{consumer.name}{f' {consumer.version}' if consumer.version else ''}{asks}"
    if consumer.found is None:
        yield "    finds none"
    else:
        version = copy.version if copy and copy.version else "unknown release"
        yield f"    {version}  {consumer.found.library.path}  by {consumer.found.way}"


def _found_lines(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.findings:
        yield "  nothing"
    told: set[str] = set()
    for severity in ("fault", "warning", "note"):
        for finding in diagnosis.findings:
            if finding.severity == severity:
                yield f"  {severity}: {finding}"
                if finding.code not in told:
                    yield f"      it means: {CODES[finding.code].meaning}"
                if finding.command or finding.code not in told:
                    yield f"      to mend it: {finding.command or CODES[finding.code].remedy}"
                told.add(finding.code)


def _copy_facts(copy: Copy) -> dict[str, Any]:
    support = support_of(copy.version or "")
    return {
        "directory": str(copy.directory),
        "version": copy.version,
        "major": copy.major,
        "cuda": copy.cuda,
        "origins": [{"kind": origin.kind, "name": origin.name} for origin in copy.origins],
        "libraries": {name: library.version for name, library in copy.libraries.items()},
        "support": None if support is None else _support_facts(support),
    }


def _support_facts(support: Support) -> dict[str, Any]:
    return {
        "drivers": dict(support.drivers),
        "capability": _dotted(support.capability),
        "source": support.source,
    }


def _consumer_facts(consumer: Consumer, diagnosis: Diagnosis) -> dict[str, Any]:
    copy = diagnosis.copy_for(consumer)
    return {
        "name": consumer.name,
        "version": consumer.version,
        "cuda": consumer.cuda,
        "asks": consumer.asked.text if consumer.asked else None,
        "loads": str(consumer.found.library.path) if consumer.found else None,
        "loads_version": copy.version if copy else None,
        "because": consumer.found.way if consumer.found else None,
    }


def _dotted(numbers: tuple[int, int] | None) -> str | None:
    return ".".join(map(str, numbers)) if numbers else None
