import { Agent, request as sendRequest } from "node:http";
import fc from "fast-check";
import { operationsOf, type OpenApiDocument } from "./document.ts";
import { openFuzzServer } from "./fuzz-server.ts";
import { createJudge, type FuzzReply } from "./judge-reply.ts";
import { LivePool } from "./live-pool.ts";
import { watchNetwork } from "./network-watch.ts";
import { requestArbitrary, type FuzzRequest, type PathValues } from "./request-arbitrary.ts";

export type FuzzOptions = {
  readonly count: number;
  readonly seed: number;
  /** Only operations whose `METHOD /path` contains this text; all unless given. */
  readonly only?: string;
  /** Milliseconds after which no request is started. */
  readonly budgetMs?: number;
  readonly concurrency?: number;
};

export type Finding = { readonly what: string; readonly request: string; readonly reply: string };

export type FuzzReport = {
  readonly sent: number;
  readonly operations: number;
  /** Operation -> status -> count. */
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Operation -> reasons why documented requests were rejected as invalid. */
  readonly refusals: Readonly<Record<string, readonly string[]>>;
  readonly findings: readonly Finding[];
};

/** The slowest valid reply waits for a start that times out after seconds. */
const timeoutMs = 30_000;
const refreshEvery = 150;
const roundSize = 400;

/** Sends `count` requests generated from the server's own document. The same seed generates the same requests. */
export async function fuzz({
  count,
  seed,
  only = "",
  budgetMs = Infinity,
  concurrency = 4,
}: FuzzOptions): Promise<FuzzReport> {
  using network = watchNetwork();
  const findings: Finding[] = [];
  const statuses: Record<string, Record<string, number>> = {};
  const refusals: Record<string, string[]> = {};
  let sent = 0;
  let operationCount = 0;
  {
    await using fuzzed = await openFuzzServer();
    const { server, root } = fuzzed;
    const document = (await server.call("GET", "/openapi.json")).json as OpenApiDocument;
    const operations = operationsOf(document).filter(({ name }) => name.includes(only));
    operationCount = operations.length;
    const bounds = { root, serverUrl: server.model.url };
    const named = namedValues(root, bounds.serverUrl);
    const arbitraries = operations.map((operation) =>
      requestArbitrary(operation, { document, bounds, named, pathValues }),
    );
    const judge = createJudge(document);
    const pool = new LivePool(server, root);
    using connections = closing(new Agent({ keepAlive: true, maxSockets: concurrency }));
    const endMs = performance.now() + budgetMs;
    const note = (
      what: string,
      request: FuzzRequest,
      target: string,
      body: string | null,
      reply: string,
    ): void => {
      findings.push({
        what,
        request: `${request.method} ${target} (${request.fault?.how ?? "as documented"}) ${shorten(body ?? "")}`,
        reply: shorten(reply),
      });
    };

    const sendOne = async (request: FuzzRequest, choice: number): Promise<void> => {
      const target = pool.fill(request.target, choice);
      const body = request.body === null ? null : pool.fill(request.body, choice);
      const headers = { ...request.headers, ...(request.hasKey ? { "x-session-api-key": server.key } : {}) };
      const reply = await send({
        url: server.url,
        agent: connections.agent,
        method: request.method,
        target,
        headers,
        body,
      });
      sent += 1;
      if (typeof reply === "string") {
        note(reply, request, target, body, "");
        return;
      }
      const ofOperation = (statuses[request.operation.name] ??= {});
      ofOperation[reply.status] = (ofOperation[reply.status] ?? 0) + 1;
      if (reply.status === 422 && request.fault === null) {
        (refusals[request.operation.name] ??= []).push(reply.text.slice(0, 200));
      }
      for (const what of judge(request, reply))
        note(what, request, target, body, `${reply.status} ${reply.text}`);
    };

    const isOver = (): boolean => sent >= count || performance.now() >= endMs;
    for (let round = 0; !isOver(); round++) {
      const size = Math.min(roundSize, count - sent);
      const requests = makeRequests(arbitraries, size, round * roundSize, seed);
      for (let start = 0; start < requests.length && performance.now() < endMs; start += refreshEvery) {
        await pool.refresh();
        const waiting = requests
          .slice(start, start + refreshEvery)
          .map((request, index) => ({ request, index }));
        const worker = async (): Promise<void> => {
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
            await sendOne(next.request, next.index);
          }
        };
        await Promise.all(Array.from({ length: concurrency }, worker));
      }
    }
    const alive = await server.call("GET", "/alive");
    if (alive.status !== 200)
      findings.push({ what: "The server is not alive", request: "", reply: alive.text });
    for (const { level, message, fields } of server.log) {
      if (level === "error" || message === "request failed") {
        findings.push({ what: `Logged: ${message}`, request: "", reply: JSON.stringify(fields) });
      }
    }
  }
  for (const address of network.outward) {
    findings.push({ what: "A connection to another machine", request: "", reply: address });
  }
  return { sent, operations: operationCount, statuses, refusals, findings };
}

/** Every operation in turn; each request has its own seed. */
function makeRequests(
  arbitraries: readonly fc.Arbitrary<FuzzRequest>[],
  size: number,
  from: number,
  seed: number,
): FuzzRequest[] {
  return Array.from({ length: size }, (_, index) => {
    const position = from + index;
    const arbitrary = arbitraries[position % arbitraries.length]!;
    return fc.sample(arbitrary, { seed: seed * 1_000_003 + position, numRuns: 1 })[0]!;
  });
}

/** Fields of which every value is refused; mutations still try them. */
const notServed = Object.fromEntries(
  Object.entries({
    plugins: [],
    processors: [],
    client_tools: [],
    tool_module_qualnames: {},
    agent_type: "default",
    agent_settings: null,
    observability_metadata: null,
    observability_tags: null,
    observability_span_name: null,
    provider_connection_id: null,
  }).map(([name, value]) => [name, fc.constant(value)]),
);

/** By name, or by name and the first three parts of the path. */
const pathValues: PathValues = {
  conversation_id: ["@conversation_id@"],
  "conversation_id /api/v1/app-conversations": ["@app_conversation_id@"],
  "conversation_id /api/v1/conversation": ["@app_conversation_id@"],
  event_id: ["@event_id@"],
  sandbox_id: ["@sandbox_id@"],
  task_id: ["@task_id@"],
  sha: ["@sha@"],
  connection_id: ["@connection_id@"],
  profile_id: ["@profile_id@"],
  path: ["@path@"],
  file_path: ["a.txt", "sub/b.txt", "missing"],
  skill_name: ["demo", "missing"],
  plugin_name: ["demo", "missing"],
};

function namedValues(root: string, serverUrl: string) {
  const folder = fc.constantFrom(root, `${root}/sub`, `${root}/repository`, `${root}/missing`);
  return {
    tools: fc.constantFrom([], [{ name: "terminal" }], [{ name: "terminal", params: {} }, { name: "grep" }]),
    include_default_tools: fc.constantFrom([], ["FinishTool"], ["FinishTool", "ThinkTool"]),
    filter_tools_regex: fc.constantFrom(null, "^t"),
    model: fc.constantFrom("openai/scripted", "openai/other"),
    llm_model: fc.constantFrom("openai/scripted", "openai/other"),
    working_dir: folder,
    project_dir: folder,
    cwd: folder,
    source: fc.constantFrom(`${root}/skills/demo`, `${root}/plugin`, `${root}/missing`),
    conversation_id: fc.constantFrom("@conversation_id@", null),
    parent_conversation_id: fc.constantFrom("@conversation_id@", null),
    sandbox_id: fc.constantFrom("@sandbox_id@", null),
    agent_profile_id: fc.constantFrom("@profile_id@", null),
    timeout: fc.constantFrom(1, 2),
    // Waiting for a model that does not answer is documented, and would take minutes.
    num_retries: fc.constantFrom(0, 1),
    retry_min_wait: fc.constant(0),
    retry_max_wait: fc.constantFrom(0, 1),
    new_name: fc.constantFrom("two", "three"),
    secret_name: fc.constantFrom("one", "two"),
    base_url: fc.constantFrom(null),
    url: fc.constantFrom(`${serverUrl}/mcp`),
    router: fc.constantFrom(null, { kind: "RandomRouter", llms_for_routing: { any: "one" } }),
    critic: fc.constantFrom(null, { kind: "PassCritic" }),
    role: fc.constant("user"),
    selected_repository: fc.constantFrom(null, "owner/name"),
    auth: fc.constant(null),
    active_agent_profile_id: fc.constantFrom(null, "@profile_id@"),
    active_profile: fc.constantFrom(null, "one"),
    messages: fc.constant([{ role: "user", content: "Hello." }]),
    ...notServed,
  };
}

type Sending = {
  readonly url: string;
  readonly agent: Agent;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** The reply, or a sentence when there is none in time. */
async function send({ url, agent, method, target, headers, body }: Sending): Promise<FuzzReply | string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { promise, resolve } = Promise.withResolvers<FuzzReply | string>();
  const { hostname, port } = new URL(url);
  const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const outgoing = sendRequest({
    hostname,
    port,
    agent,
    method,
    path: target,
    headers: { ...headers, ...length },
    signal,
  });
  const fail = (error: Error): void =>
    resolve(signal.aborted ? `No answer within ${timeoutMs} ms` : `The connection broke: ${error.message}`);
  outgoing.once("error", fail).once("response", (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk)).once("error", fail);
    response.once("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      resolve({
        status: response.statusCode ?? 0,
        contentType: response.headers["content-type"] ?? "",
        text,
      });
    });
  });
  outgoing.end(body ?? undefined);
  return await promise;
}

function closing(agent: Agent): Disposable & { readonly agent: Agent } {
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}

function shorten(text: string): string {
  return text.length <= 1_500 ? text : `${text.slice(0, 1_500)}… (${text.length} characters)`;
}
