import type { Client } from "@modelcontextprotocol/client";
import { describeError } from "../../lib/describe-error.ts";
import { expandServer } from "./expand-variables.ts";
import { anything, listTools } from "./list-tools.ts";
import type { McpServer } from "./mcp-server.ts";
import { toObservation } from "./observation.ts";
import { openClient, type OpenClientDeps } from "./open-client.ts";

/** The result of a server's test. `error` is safe to show, except for the configuration's own values. */
export type TriedServer =
  | {
      readonly ok: true;
      readonly tools: string[];
      readonly tool_result?: { readonly is_error: boolean; readonly text: string };
    }
  | { readonly ok: false; readonly error: string; readonly error_kind: "timeout" | "connection" | "unknown" };

export type TryOptions = {
  readonly timeoutMs: number;
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | null;
  readonly signal: AbortSignal;
};

/** Connects once, lists the tools, calls one if requested, and cleans up; never rejects. */
export async function tryServer(
  server: McpServer,
  deps: OpenClientDeps,
  { timeoutMs, call, signal }: TryOptions,
): Promise<TriedServer> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const until = AbortSignal.any([deadline, signal]);
  let listed: string[] | null = null;
  try {
    const open = await openClient(expandServer(server, new Map()), deps, until);
    try {
      const { tools } = await listTools(open.client, until);
      const names = (listed = tools.map(({ name }) => name));
      if (call === null) return { ok: true, tools: names };
      if (!names.includes(call.name)) {
        const offered = names.length === 0 ? "no tools" : `these: ${names.join(", ")}`;
        return calledInVain(names, `The server has no tool "${call.name}". It has ${offered}.`);
      }
      return { ok: true, tools: names, tool_result: await callTool(open.client, call, until) };
    } finally {
      await open.close();
    }
  } catch (error) {
    const seconds = timeoutMs / 1000;
    if (deadline.aborted) {
      if (listed !== null) return calledInVain(listed, `The tool did not answer within ${seconds} s.`);
      return { ok: false, error: `The server did not answer within ${seconds} s.`, error_kind: "timeout" };
    }
    const text = describeError(error);
    return { ok: false, error: text.slice(0, 1_000), error_kind: listed === null ? "connection" : "unknown" };
  }
}

type Call = NonNullable<TryOptions["call"]>;
type ToolResult = { readonly is_error: boolean; readonly text: string };

async function callTool(client: Client, call: Call, signal: AbortSignal): Promise<ToolResult> {
  const request = { method: "tools/call", params: { name: call.name, arguments: call.arguments } };
  // The signal ends it; the library's own limit must not come before.
  const result = await client.request(request, anything, { signal, timeout: 2 ** 31 - 1 });
  const { content = [], is_error: isError = false } = toObservation(call.name, result);
  const text = content.slice(1).flatMap((part) => ("text" in part ? [part.text] : []));
  return { is_error: isError, text: text.join("\n") };
}

/** The server works, the call does not: what a test is about is whether the server can be reached. */
function calledInVain(tools: string[], text: string): TriedServer {
  return { ok: true, tools, tool_result: { is_error: true, text: text.slice(0, 1_000) } };
}
