"""Writes test/golden/usage-names-python.json: the paths of all numbers in the usage types of vendors' Python SDKs.

`folder` has one folder for each package with its files, named as its wheel, of these packages:

  pip download --no-deps -d wheels openai anthropic …   # the names in ROOTS, with hyphens
  for wheel in wheels/*.whl; do unzip -q "$wheel" -d "folder/$(basename "$wheel" | cut -d- -f1,2)"; done
  python3 scripts/generate/usage-names.py folder
"""

import ast
import gzip
import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).parents[2] / "test/golden/usage-names-python.json"
MAX_DEPTH = 5

# The types of usage objects in each package; a type is named with its module where several have the name.
ROOTS: dict[str, list[str]] = {
    "openai": [
        "CompletionUsage",
        "ResponseUsage",
        "RealtimeResponseUsage",
        "UsageTokens",
        "UsageDuration",
        "SessionUsage",
        "BatchUsage",
        "TokenUsage",
    ],
    "anthropic": ["Usage", "MessageDeltaUsage", "BetaUsage", "BetaMessageDeltaUsage"],
    "google_genai": ["GenerateContentResponseUsageMetadata", "UsageMetadata", "Usage"],
    "cohere": ["Usage", "ApiMeta"],
    "mistralai": ["UsageInfo", "ConversationUsageInfo", "OCRUsageInfo", "ResponsesUsage"],
    "groq": ["CompletionUsage", "XGroqUsage"],
    "together": ["ChatCompletionUsage"],
    "fireworks_ai": ["UsageInfo"],
    "perplexityai": ["UsageInfo", "ResponsesUsage", "EmbeddingsUsage"],
    "openrouter": ["ChatUsage", "Usage", "ImageGenerationUsage", "STTUsage", "CreateEmbeddingsUsage", "CreateRerankUsage"],
    "huggingface_hub": ["ChatCompletionOutputUsage"],
    "ai21": ["UsageInfo"],
    "writer_sdk": ["ChatCompletionUsage"],
    "cerebras_cloud_sdk": ["ChatCompletionResponseUsage", "CompletionResponseUsage"],
    "zai_sdk": ["CompletionUsage", "AgentsCompletionUsage"],
    "reka_api": ["Usage"],
    "assemblyai": ["LLMGatewayUsage"],
    "dashscope": [
        "GenerationUsage",
        "MultiModalConversationUsage",
        "ApplicationUsage",
        "RecognitionUsage",
        "SpeechSynthesisUsage",
        "ImageSynthesisUsage",
        "VideoSynthesisUsage",
        "ReRankUsage",
    ],
    "pydantic_ai_slim": ["UsageBase"],
    "agno": ["BaseMetrics"],
    "crewai": ["UsageMetrics"],
    "strands_agents": ["Usage"],
    "openai_agents": ["Usage"],
    "smolagents": ["TokenUsage"],
    "autogen_core": ["RequestUsage"],
    "semantic_kernel": ["CompletionUsage"],
    "claude_agent_sdk": ["ModelUsage"],
    "litellm": ["PromptTokensDetailsWrapper", "CompletionTokensDetailsWrapper", "ServerToolUse"],
    "dspy": ["Usage"],
}
# Where an object of a type is, if it is not the usage object itself.
PLACES = {
    "PromptTokensDetailsWrapper": "prompt_tokens_details.",
    "CompletionTokensDetailsWrapper": "completion_tokens_details.",
    "ServerToolUse": "server_tool_use.",
    "XGroqUsage": "",
}
# Modules whose usage is that of an organisation or of another product.
OTHERS = re.compile(r"organization|admin|analytics|managed|sessions|dreams|fine_tun|threads|evals|generated/api|gcp/|azure/|vertex_ai|test")


class Package:
    """The classes of a package with their annotated fields."""

    def __init__(self, folder: Path) -> None:
        self.classes: dict[str, list[ast.ClassDef]] = {}
        self.modules: dict[int, str] = {}
        for file in sorted(folder.rglob("*.py")):
            if OTHERS.search(str(file.relative_to(folder))):
                continue
            source = file.read_text(errors="replace")
            if not re.search(r"usage|tokens|billed|metrics", source, re.IGNORECASE):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append(node)
                    self.modules[id(node)] = str(file)

    def paths(self, name: str, prefix: str = "", depth: int = 0, module: str = "") -> set[str]:
        """The paths of the numbers in the classes of a name: in those of the module, or else in all."""
        found: set[str] = set()
        if depth > MAX_DEPTH:
            return found
        every = self.classes.get(name, [])
        near = [node for node in every if self.modules[id(node)] == module]
        for node in near or every:
            home = self.modules[id(node)]
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id != name:
                    found |= self.paths(base.id, prefix, depth + 1, home)
            for field in node.body:
                if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                    continue
                annotation = ast.unparse(field.annotation)
                if "ClassVar" in annotation or field.target.id.startswith(("__", "model_config")):
                    continue
                found |= self.numbers(annotation, prefix + field.target.id, depth, home)
        return found

    def numbers(self, annotation: str, path: str, depth: int, module: str) -> set[str]:
        """The paths of the numbers in a value with this annotation."""
        found: set[str] = set()
        words = re.findall(r"[A-Za-z_][\w.]*", annotation)
        is_list = any(word.split(".")[-1] in ("List", "list", "Sequence") for word in words)
        if any(word.split(".")[-1] in ("dict", "Dict", "Mapping") for word in words):
            return found
        for word in words:
            kind = word.split(".")[-1]
            if kind in ("int", "float", "Decimal", "Number"):
                found.add(path + ("[]" if is_list else ""))
            elif kind in self.classes:
                found |= self.paths(kind, path + ("[]." if is_list else "."), depth + 1, module)
        return found


def bedrock(folder: Path) -> set[str]:
    """The numbers of Converse's usage, from the model of the service in botocore."""
    model = next(folder.glob("botocore/data/bedrock-runtime/*/service-2.json*"))
    text = gzip.decompress(model.read_bytes()) if model.suffix == ".gz" else model.read_bytes()
    shapes = json.loads(text)["shapes"]

    def visit(shape: str, path: str) -> set[str]:
        is_number = shapes[shape]["type"] in ("integer", "long", "float", "double")
        members = shapes[shape].get("members", {})
        found = {path} if is_number else set()
        for name, member in members.items():
            found |= visit(member["shape"], f"{path}.{name}" if path else name)
        if shapes[shape]["type"] == "list":
            found |= visit(shapes[shape]["member"]["shape"], f"{path}[]")
        return found

    return visit("TokenUsage", "")


def main() -> None:
    """Reads the packages of a folder."""
    entries: list[dict[str, object]] = []
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        name, _, version = folder.name.partition("-")
        title = f"{name.replace('_', '-')}=={version}"
        if name == "botocore":
            entries.append({"package": title, "type": "TokenUsage", "paths": sorted(bedrock(folder))})
        package = Package(folder) if name in ROOTS else None
        for root in ROOTS.get(name, []) if package else []:
            paths = package.paths(root, PLACES.get(root, ""))
            if not paths:
                raise SystemExit(f"{title} has no numbers in {root}")
            entries.append({"package": title, "type": root, "paths": sorted(paths)})
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    OUT.write_text(f"[\n{lines}\n]\n")


main()
