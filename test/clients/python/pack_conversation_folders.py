"""Packs conversation folders of an agent server as test data. Usage: pack_conversation_folders.py FOLDERS NAMES.json WORKSPACE TARGET.tar.gz

Prompts, descriptions of tools and error texts of that server are replaced: they are not ours to keep. Everything else stays as it was written.
"""

import gzip
import io
import json
import pathlib
import sys
import tarfile

folders, names, workspace, target = sys.argv[1:5]
made = json.loads(pathlib.Path(names).read_text())


def replaced(value, key=None, kind=None):
    if isinstance(value, dict):
        kind = value.get("kind", kind)
        return {name: replaced(field, name, kind) for name, field in value.items()}
    if isinstance(value, list):
        return [replaced(item, key, kind) for item in value]
    if not isinstance(value, str):
        return value
    if kind == "SystemPromptEvent" and key == "text":
        return "The prompt of the agent server stood here."
    if key in ("description", "title") and kind is not None and kind.endswith(("Tool", "ToolDefinition")):
        return "What the tool does stood here."
    if key == "detail" or (key == "error" and kind == "AgentErrorEvent"):
        return "What went wrong stood here."
    if value.startswith(("Invalid `path`", "I received your image")):
        return "A text of that server stood here."
    if key in ("prefix", "suffix"):
        return ""
    # Before other paths: the folders may be inside.
    return value.replace(str(pathlib.Path(folders).resolve()), "/srv/conversations").replace(workspace, "/srv/harbour")


raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
    for identifier in made.values():
        folder = pathlib.Path(folders) / identifier.replace("-", "")
        for file in sorted(folder.rglob("*")):
            if not file.is_file():
                continue
            content = file.read_bytes()
            if file.name.endswith(".json") and file.name != "owner_lease.json":
                content = json.dumps(replaced(json.loads(content)), separators=(",", ":"), ensure_ascii=False).encode()
            elif file.name == "owner_lease.json":
                continue
            entry = tarfile.TarInfo(str(file.relative_to(folders)))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
pathlib.Path(target).write_bytes(gzip.compress(raw.getvalue(), 9, mtime=0))
