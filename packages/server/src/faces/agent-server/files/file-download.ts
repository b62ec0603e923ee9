import { Readable } from "node:stream";
import type { FileStat, Workspace } from "@convoke/tool-host";
import { WorkspaceError } from "@convoke/tool-host";
import { Fault } from "../../../lib/fault.ts";
import type { RouteReply, RouteRequest } from "../../../http/mount.ts";

export type Download = {
  readonly workspace: Workspace;
  readonly path: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Replies with a file: the whole, the requested range, or 304 when the caller has it already. */
export async function sendFile(
  { workspace, path, contentType, headers }: Download,
  request: RouteRequest,
): Promise<RouteReply> {
  const stat = await workspace.stat(path);
  if (stat.type !== "file") throw new WorkspaceError("not-a-file", `${path} is not a file.`);
  const etag = etagOf(stat);
  const all = {
    ...headers,
    etag,
    "accept-ranges": "bytes",
    "last-modified": new Date(stat.modifiedAtMs).toUTCString(),
  };
  if (isKnown(request.headers["if-none-match"], etag)) return { status: 304, headers: all, text: "" };
  const wanted = isRangeWanted(request, etag) ? readRange(request.headers["range"], stat.sizeBytes) : null;
  if (wanted === "unsatisfiable") {
    throw new Fault(
      "no-range",
      "no_such_range",
      `The file has ${stat.sizeBytes} bytes; the range lies outside.`,
    );
  }
  const start = wanted?.start ?? 0;
  const length = wanted === null ? stat.sizeBytes : wanted.end - wanted.start + 1;
  const head = {
    status: wanted === null ? 200 : 206,
    headers: {
      ...all,
      "content-length": String(length),
      ...(wanted === null
        ? {}
        : { "content-range": `bytes ${wanted.start}-${wanted.end}/${stat.sizeBytes}` }),
    },
    contentType,
  };
  if (length === 0 || request.request.method === "HEAD") return { ...head, bytes: new Uint8Array() };
  const { content } = await workspace.readFile(path, { start, end: start + length - 1 });
  return { ...head, stream: exactly(content, length) };
}

/** The headers that make a browser save the file under its name. Source: RFC 6266. */
export function asAttachment(path: string): Record<string, string> {
  const name = path.slice(path.lastIndexOf("/") + 1).toWellFormed();
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return { "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encoded}` };
}

/** A file that shrinks while it is read breaks the reply: a part must not look like the whole. */
function exactly(content: Readable, length: number): Readable {
  const checked = Readable.from(
    (async function* () {
      let seen = 0;
      for await (const bytes of content as AsyncIterable<Buffer>) {
        seen += bytes.length;
        yield bytes;
      }
      if (seen !== length) throw new Error("The file became shorter while it was read.");
    })(),
    { objectMode: false },
  );
  checked.once("close", () => content.destroy());
  return checked;
}

function etagOf({ sizeBytes, modifiedAtMs }: FileStat): string {
  return `"${sizeBytes.toString(16)}-${modifiedAtMs.toString(16)}"`;
}

function isKnown(header: string | string[] | undefined, etag: string): boolean {
  const known = String(header ?? "").split(",");
  return known.some((entry) => entry.trim() === "*" || entry.trim().replace(/^W\//, "") === etag);
}

/** A range of an older file is useless. */
function isRangeWanted({ headers }: RouteRequest, etag: string): boolean {
  const condition = headers["if-range"];
  return headers["range"] !== undefined && (condition === undefined || condition === etag);
}

type Range = { readonly start: number; readonly end: number };

/** Null unless it is a single range of bytes; then the whole file is sent. Source: RFC 9110, 14. */
function readRange(header: string | string[] | undefined, size: number): Range | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(String(header).trim());
  if (match === null) return null;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return null;
  return start > end ? "unsatisfiable" : { start, end };
}
