import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConvokeProcess } from "../../packages/server/src/testing/convoke-process.ts";
import {
  startScriptedModel,
  type Script,
  type ScriptedModelServer,
} from "../../packages/server/src/testing/scripted-model/scripted-model.ts";
import { CallRecord } from "./call-record.ts";
import {
  loadOfficialClient,
  type OfficialClient,
} from "../../packages/server/src/testing/load-official-client.ts";

const script: Script = {
  loop: true,
  unique_ids: true,
  turns: [
    { text: "Hello." },
    {
      match: { last_user_contains: "Please run" },
      tool_calls: [{ name: "terminal", arguments: { command: "echo it ran" } }],
    },
    { match: { last_user_contains: "Please run" }, text: "It ran." },
    { match: { last_user_contains: "Please wait" }, hang: true },
  ],
};

/** A running `convoke serve`, a scripted model, a repository as workspace, and the official client. */
export class ClientWorld implements AsyncDisposable {
  readonly client: OfficialClient;
  readonly record: CallRecord;
  readonly server: ConvokeProcess;
  readonly model: ScriptedModelServer;

  private constructor(client: OfficialClient, server: ConvokeProcess, model: ScriptedModelServer) {
    this.client = client;
    this.record = new CallRecord(Object.values(client));
    this.server = server;
    this.model = model;
  }

  static async open(): Promise<ClientWorld> {
    const client = await loadOfficialClient();
    const model = await startScriptedModel({ script });
    const world = new ClientWorld(client, await ConvokeProcess.start(), model);
    await world.write("README.md", "first\n");
    const git = (...words: string[]): void => {
      const author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
      execFileSync("git", [...author, ...words], { cwd: world.folder, stdio: "ignore" });
    };
    git("init", "--initial-branch=main");
    git("add", "README.md");
    git("commit", "--message=first");
    await world.write("README.md", "second\n");
    return world;
  }

  /** The working directory of every conversation. */
  get folder(): string {
    return join(this.server.folder, "work");
  }

  /** The options of every client of one machine. */
  get options(): { host: string; apiKey: string } {
    return { host: this.server.url, apiKey: this.server.key };
  }

  get llm(): { model: string; base_url: string; api_key: string; num_retries: number } {
    return {
      model: "openai/scripted",
      base_url: `${this.model.url}/v1`,
      api_key: "llm-key",
      num_retries: 0,
    };
  }

  get agent(): { kind: string; llm: ClientWorld["llm"]; tools: { name: string }[] } {
    return { kind: "Agent", llm: this.llm, tools: [{ name: "terminal" }] };
  }

  /** The body of a request for a conversation in the folder. */
  get startRequest(): { agent: ClientWorld["agent"]; workspace: object } {
    return { agent: this.agent, workspace: { kind: "LocalWorkspace", working_dir: this.folder } };
  }

  /** Writes a file below the folder. */
  async write(path: string, text: string): Promise<string> {
    const file = join(this.folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return file;
  }

  /** Resolves once the conversation has this status; rejects after two minutes. */
  async untilStatus(id: string, status: string): Promise<void> {
    await this.until(`conversation ${id} to become ${status}`, async () => {
      const { json } = await this.server.call("GET", `/api/conversations/${id}`);
      return (json as { execution_status: string }).execution_status === status;
    });
  }

  /** Polls a change that is not announced otherwise. */
  async until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + 120_000;
    while (!(await isTrue())) {
      if (performance.now() > deadlineMs) throw new Error(`Waited in vain for ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.record[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
    await this.model[Symbol.asyncDispose]();
  }
}
