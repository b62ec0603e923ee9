"""The official Python SDK, unmodified, against a Convoke server."""

# region conversation
import os

import openhands.tools.terminal  # noqa: F401  # The SDK reads events of the tools that are imported.
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.workspace import RemoteWorkspace
from pydantic import SecretStr

llm = LLM(
    model=os.environ["LLM_MODEL"],
    api_key=SecretStr(os.environ["LLM_API_KEY"]),
    base_url=os.environ["LLM_BASE_URL"],
)
agent = Agent(llm=llm, tools=[Tool(name="terminal")])
workspace = RemoteWorkspace(host=os.environ["URL"], api_key=os.environ["KEY"], working_dir="python-sdk")

kinds = []
conversation = Conversation(
    agent, workspace=workspace, callbacks=[lambda event: kinds.append(type(event).__name__)], visualizer=None
)
conversation.send_message("Say something from a shell command.")
conversation.run()
# endregion conversation

print("status ", conversation.state.execution_status.value)
print("actions", kinds.count("ActionEvent"))
conversation.close()
