import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import type { ClientApp } from "@agentclientprotocol/sdk";
import type { Workspace } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import type { PromptListener, RecordedCall } from "./external-agent.ts";

/** The files of the conversation's folder; links in it lead nowhere else. */
export type AgentFiles = Pick<Workspace, "readFile" | "writeFile">;

/** Larger files are for tools that read in parts. */
const maxBytes = 8 * 1024 * 1024;

/** Files that an agent reads and writes through us. Each call is recorded, a write before it is made. */
export class ClientFiles {
  readonly #files: AgentFiles;
  readonly #workspaceDir: string;

  constructor(files: AgentFiles, workspaceDir: string) {
    this.#files = files;
    this.#workspaceDir = workspaceDir;
  }

  serve(app: ClientApp, listener: () => PromptListener): void {
    app.onRequest("fs/read_text_file", async ({ params: { path, line, limit } }) => {
      const call = this.#call("read", path, `Read ${path}`, { path, line, limit });
      const content = await this.#recorded(listener(), call, async () => {
        const text = await this.#read(path);
        return linesOf(text, line ?? 1, limit ?? null);
      });
      return { content };
    });
    app.onRequest("fs/write_text_file", async ({ params: { path, content } }) => {
      const call = this.#call("edit", path, `Write ${path}`, { path, content });
      await this.#recorded(listener(), call, async () => {
        await this.#files.writeFile(path, once(Buffer.from(content, "utf8")));
        return "";
      });
      return {};
    });
  }

  #call(kind: "read" | "edit", path: string, title: string, rawInput: unknown): RecordedCall {
    const isAbsolute = posix.isAbsolute(path);
    if (!isAbsolute) throw new Error(`Send an absolute path below ${this.#workspaceDir}, not ${path}.`);
    return { toolCallId: `fs-${randomUUID()}`, title, kind, rawInput };
  }

  async #recorded(listener: PromptListener, call: RecordedCall, act: () => Promise<string>): Promise<string> {
    const refusal = await listener.beginCall(call);
    if (refusal !== null) throw new Error(refusal);
    try {
      const text = await act();
      await listener.endCall(call, {
        output: call.kind === "read" ? { characters: text.length } : null,
        isError: false,
      });
      return text;
    } catch (error) {
      await listener.endCall(call, { output: describeError(error), isError: true });
      throw error;
    }
  }

  async #read(path: string): Promise<string> {
    const { stat, content } = await this.#files.readFile(path);
    if (stat.sizeBytes > maxBytes) {
      content.destroy();
      throw new Error(`${path} has more than ${maxBytes / 1024 / 1024} MB. Read it in parts with a command.`);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  }
}

/** `line` counts from 1. */
function linesOf(text: string, line: number, limit: number | null): string {
  if (line <= 1 && limit === null) return text;
  const lines = text.split("\n");
  return lines.slice(line - 1, limit === null ? undefined : line - 1 + limit).join("\n");
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
