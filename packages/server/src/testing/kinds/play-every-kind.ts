import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Event } from "@convoke/protocol";
import { defaultTools } from "@convoke/tool-host";
import { startTestServer, type TestServer } from "../start-server.ts";
import type { ScriptTurn } from "../scripted-model/script.ts";

const mcpServer = fileURLToPath(new URL("../mcp/stdio-server.ts", import.meta.url));

const toolNames = [
  "terminal",
  "file_editor",
  "task_tracker",
  "glob",
  "grep",
  "read_file",
  "write_file",
  "edit",
  "list_directory",
  "planning_file_editor",
];

const call = (name: string, given: Record<string, unknown> = {}) => ({ name, arguments: given });
const spoken = (...calls: readonly ReturnType<typeof call>[]): ScriptTurn => ({ tool_calls: calls });

/**
 * Plays one conversation with requests of the contract, in which every kind occurs. Returns its log, as the search returns it page by
 * page.
 */
export async function playEveryKind({ withBrowser }: { readonly withBrowser: boolean }): Promise<Event[]> {
  const turns: ScriptTurn[] = [];
  await using server = await startTestServer({
    // In order, because turns are added while the conversation continues.
    script: { turns, select: "in_order", unique_ids: true },
    tools: defaultTools(),
    mcp: { firstWaitMs: 20_000 },
    environment: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/tmp" },
  });
  await using site = await openSite();
  const browser = { name: "browser_tool_set", params: { on_demand: true } };
  const tools = [...toolNames.map((name) => ({ name })), ...(withBrowser ? [browser] : [])];
  const request = server.startRequest();
  turns.push(everyTool(server.workspaceDir), withTokens(), spoken(call("finish", { message: "Done." })));
  const { id } = await server.client.startConversation({
    ...request,
    agent: {
      ...request.agent,
      llm: { ...request.agent.llm, log_completions: true },
      tools,
      mcp_config: { mcpServers: { echo: { command: process.execPath, args: [mcpServer, "good"] } } },
    },
    initial_message: { role: "user", content: [{ type: "text", text: "Use everything." }], run: true },
  });
  const player = new Player(server, id, turns);
  await server.waitForStatus(id, "finished", 60_000);
  if (withBrowser) await player.browse(site.url);
  await player.reject();
  await player.pause();
  await player.fail();
  await player.condense();
  return await server.events(id);
}

/** A call of each tool except the browser's, and an invalid one. */
function everyTool(folder: string): ScriptTurn {
  const made = join(folder, "made.txt");
  return spoken(
    call("think", { thought: "One after the other." }),
    call("terminal", { command: "echo one" }),
    call("file_editor", { command: "create", path: made, file_text: "one\n" }),
    call("write_file", { file_path: "written.txt", content: "two\n" }),
    call("edit", { file_path: "written.txt", old_string: "two", new_string: "three" }),
    call("read_file", { file_path: "written.txt" }),
    call("list_directory", { dir_path: "." }),
    call("glob", { pattern: "*.txt" }),
    call("grep", { pattern: "three" }),
    call("planning_file_editor", { command: "view", path: made }),
    call("task_tracker", { command: "plan", task_list: [{ title: "All of it", notes: "", status: "todo" }] }),
    call("echo", { text: "hello" }),
    call("no_such_tool"),
  );
}

/** An answer of a server that reports token ids, as vLLM does. */
function withTokens(): ScriptTurn {
  const delta = { content: "", tool_calls: [{ index: 0, id: "tokens", type: "function", function: shell }] };
  const data = {
    id: "tokens",
    prompt_token_ids: [1, 2],
    choices: [{ index: 0, delta, token_ids: [3, 4], finish_reason: "tool_calls" }],
  };
  const body = `data: ${JSON.stringify(data)}\n\ndata: [DONE]\n\n`;
  return { raw: { headers: { "content-type": "text/event-stream" }, body } };
}

const shell = { name: "terminal", arguments: JSON.stringify({ command: "echo two" }) };

class Player {
  readonly #server: TestServer;
  readonly #id: string;
  readonly #turns: ScriptTurn[];

  constructor(server: TestServer, id: string, turns: ScriptTurn[]) {
    this.#server = server;
    this.#id = id;
    this.#turns = turns;
  }

  async browse(url: string): Promise<void> {
    this.#turns.push(spoken(call("browser_tool_set")));
    await this.#run(
      "Browse.",
      spoken(
        call("browser_navigate", { url }),
        call("browser_start_recording"),
        call("browser_get_state"),
        call("browser_navigate", { url: `${url}/second`, new_tab: true }),
        call("browser_list_tabs"),
      ),
    );
    const observations = (await this.#server.events(this.#id)).flatMap((event) =>
      event.kind === "ObservationEvent" && event.observation.kind === "BrowserObservation"
        ? [event.observation]
        : [],
    );
    const texts = observations.map(({ content = [] }) =>
      content.map((part) => ("text" in part ? part.text : "")).join(""),
    );
    const state = JSON.parse(texts.find((text) => text.includes("interactive_elements"))!) as State;
    const indexOf = (tag: string): number =>
      state.interactive_elements.find((element) => element.tag === tag)!.index;
    const first = state.tabs[0]!.tab_id;
    const tabs = JSON.parse(texts.at(-1)!) as State["tabs"];
    const second = tabs.find(({ tab_id: id }) => id !== first)!.tab_id;
    await this.#run(
      "Go on.",
      spoken(
        call("browser_switch_tab", { tab_id: first }),
        call("browser_type", { index: indexOf("input"), text: "hello" }),
        call("browser_scroll", { direction: "down" }),
        call("browser_click", { index: indexOf("a") }),
        call("browser_go_back"),
        call("browser_get_content"),
        call("browser_get_storage"),
        call("browser_set_storage", { storage_state: { cookies: [], origins: [] } }),
        call("browser_stop_recording"),
        call("browser_close_tab", { tab_id: second }),
      ),
    );
  }

  /** A call that the user rejects. */
  async reject(): Promise<void> {
    await this.#policy("AlwaysConfirm");
    await this.#send("Ask me.", true, spoken(call("terminal", { command: "echo never" })));
    await this.#server.waitForStatus(this.#id, "waiting_for_confirmation");
    await this.#server.client.respondToConfirmation(this.#id, false, "No.");
    await this.#policy("NeverConfirm");
  }

  async pause(): Promise<void> {
    await this.#send("Wait.", false);
    await this.#server.client.pause(this.#id);
  }

  /** A run that a fault of the provider ends. */
  async fail(): Promise<void> {
    await this.#send("Fail.", true, { error: { status: 401, message: "No such key." } });
    await this.#server.waitForStatus(this.#id, "error");
  }

  async condense(): Promise<void> {
    this.#turns.push({ text: "What happened so far." });
    const reply = await this.#server.call("POST", `/api/conversations/${this.#id}/condense`);
    if (reply.status !== 200) throw new Error(`Nothing was condensed: ${reply.text}`);
  }

  async #run(text: string, turn: ScriptTurn): Promise<void> {
    await this.#send(text, true, turn, { text: "Done." });
    await this.#server.waitForStatus(this.#id, "finished", 60_000);
  }

  async #send(text: string, run: boolean, ...turns: readonly ScriptTurn[]): Promise<void> {
    this.#turns.push(...turns);
    await this.#server.client.sendMessage(this.#id, { role: "user", content: [{ type: "text", text }], run });
  }

  async #policy(kind: "AlwaysConfirm" | "NeverConfirm"): Promise<void> {
    await this.#server.client.setConfirmationPolicy(this.#id, { kind });
  }
}

type State = {
  readonly tabs: readonly { readonly tab_id: string }[];
  readonly interactive_elements: readonly { readonly index: number; readonly tag: string }[];
};

const page = `<!doctype html><title>First</title><input placeholder="Name"><a href="/second">On</a>`;

async function openSite(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(page);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
