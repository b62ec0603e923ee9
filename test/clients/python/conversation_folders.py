"""Lets a running agent server write twenty conversation folders of different kinds. Usage: conversation_folders.py SERVER MODEL FOLDER"""

import json
import sys
import time
import urllib.error
import urllib.request

server, model, workspace = sys.argv[1:4]


def call(method, path, body=None, accept=()):
    request = urllib.request.Request(
        f"{server}{path}",
        method=method,
        headers={"Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode(),
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        if error.code in accept:
            return None
        raise SystemExit(f"{method} {path}: {error.code} {error.read()[:2000]}") from error


def agent(**more):
    llm = {"model": "openai/scripted", "base_url": f"{model}/v1", "api_key": "sk-golden-model-key", "num_retries": 0}
    tools = [{"name": name} for name in ("terminal", "file_editor", "task_tracker")]
    return {"kind": "Agent", "llm": {**llm, "usage_id": "agent"}, "tools": tools, **more}


def create(agent_changes=None, **more):
    body = {"agent": agent(**(agent_changes or {})), "workspace": {"kind": "LocalWorkspace", "working_dir": workspace}}
    return call("POST", "/api/conversations", {**body, "autotitle": False, **more})["id"]


def send(id, text, run=True, content=None):
    body = {"role": "user", "content": content or [{"type": "text", "text": text}], "run": run}
    call("POST", f"/api/conversations/{id}/events", body)


def status(id):
    return call("GET", f"/api/conversations/{id}")["execution_status"]


def until(id, *wanted):
    for _ in range(300):
        if status(id) in wanted:
            # The last events are written behind the status.
            time.sleep(0.3)
            return
        time.sleep(0.1)
    raise SystemExit(f"{id} is {status(id)}, not {wanted}")


def talk(id, text, *wanted, **more):
    send(id, text, **more)
    until(id, *(wanted or ("finished",)))


def name(id, title, tags=None):
    call("PATCH", f"/api/conversations/{id}", {"title": title, **({"tags": tags} if tags else {})})


def confirm(id, accept, reason="No, thank you."):
    path = f"/api/conversations/{id}/events/respond_to_confirmation"
    call("POST", path, {"accept": accept, "reason": reason})


always = {"kind": "AlwaysConfirm"}
made = {}


def plain():
    id = create()
    talk(id, "Please greet the harbour master.")
    name(id, "A plain talk", {"team": "harbour", "state": "done"})
    return id


def empty():
    return create()


def unsent():
    id = create()
    send(id, "A message that nobody ran.", run=False)
    return id


def several_turns():
    id = create()
    for index in range(4):
        talk(id, f"Turn number {index} about lighthouses.")
    return id


def tool():
    id = create()
    talk(id, "Please run the line.")
    return id


def parallel():
    id = create()
    talk(id, "Please use everything.")
    return id


def failed_command():
    id = create()
    talk(id, "Please fail once.")
    return id


def unknown_tool():
    id = create()
    talk(id, "Please call nothing.")
    return id


def waiting():
    id = create(confirmation_policy=always)
    talk(id, "Please run the line.", "waiting_for_confirmation")
    return id


def rejected():
    id = create(confirmation_policy=always)
    talk(id, "Please run the line.", "waiting_for_confirmation")
    confirm(id, False)
    until(id, "idle")
    return id


def accepted():
    id = create(confirmation_policy=always)
    talk(id, "Please run the line.", "waiting_for_confirmation")
    confirm(id, True)
    until(id, "finished", "waiting_for_confirmation")
    return id


def interrupted():
    id = create()
    send(id, "Please sleep long.")
    until(id, "running")
    time.sleep(2)
    call("POST", f"/api/conversations/{id}/interrupt")
    until(id, "paused")
    return id


def broken_model():
    id = create()
    talk(id, "Please break.", "error")
    return id


def limited():
    id = create(max_iterations=1)
    talk(id, "Please run the line.", "error")
    return id


def secret():
    id = create(secrets={"HARBOUR_TOKEN": {"kind": "StaticSecret", "value": "golden-secret-value-77"}})
    talk(id, "Please print the secret.")
    name(id, "With a secret")
    return id


def condensed():
    id = create()
    for index in range(3):
        talk(id, f"Remember the fact number {index}.")
    condenser = {"kind": "LLMSummarizingCondenser", "llm": agent()["llm"], "max_size": 12, "keep_first": 2}
    other = create({"condenser": condenser})
    for index in range(8):
        talk(other, f"Remember the fact number {index}.")
    call("POST", f"/api/conversations/{other}/condense", accept=(400, 409, 500))
    time.sleep(1)
    call("DELETE", f"/api/conversations/{id}")
    return other


def branched():
    id = create()
    talk(id, "The first question.")
    page = call("GET", f"/api/conversations/{id}/events/search?limit=100")["items"]
    answer = [event for event in page if event["kind"] == "MessageEvent"][-1]["id"]
    talk(id, "A question on the branch that is left.")
    call("POST", f"/api/conversations/{id}/navigate", {"event_id": answer})
    talk(id, "A question on the other branch.")
    return id


def forked():
    call("POST", f"/api/conversations/{made['several_turns']}/fork", {"title": "A fork"})
    page = call("GET", "/api/conversations/search?limit=100")["items"]
    id = next(item["id"] for item in page if item["title"] == "A fork")
    talk(id, "Only in the fork.", "finished", "error")
    return id


def many_letters():
    id = create()
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    content = [
        {"type": "text", "text": "Größe, 漢字, עברית, 🚢 and a NUL-free tab\tin it."},
        {"type": "image", "image_urls": [f"data:image/png;base64,{dot}"]},
    ]
    talk(id, "", content=content)
    name(id, "Ümläute 漢字 🚢")
    return id


def hooked():
    hooks = {"pre_tool_use": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo seen"}]}]}
    id = create(hook_config=hooks)
    talk(id, "Please run the line.")
    return id


kinds = [
    plain, empty, unsent, several_turns, tool, parallel, failed_command, unknown_tool, waiting, rejected, accepted,
    interrupted, broken_model, limited, secret, condensed, branched, forked, many_letters, hooked,
]
for kind in kinds:
    made[kind.__name__] = kind()
print(json.dumps(made))
