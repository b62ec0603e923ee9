import type { IncomingHttpHeaders } from "node:http";

/**
 * The answer of `/health` and `/alive`. Newer clients read `status` of an object; those of the 0.1.0 description, where `/health` is a
 * string, ask for it with `Accept: text/plain`. Probes look at the status code alone and get the object.
 */
export function readHealth({ accept = "" }: Pick<IncomingHttpHeaders, "accept">): HealthReply {
  const wanted = accept.split(",").map((part) => part.split(";", 1)[0]!.trim().toLowerCase());
  const isText = wanted.includes("text/plain") && !wanted.some((type) => jsonTypes.has(type));
  return isText
    ? { contentType: "text/plain; charset=utf-8", text: "OK" }
    : { contentType: "application/json", text: '{"status":"ok"}' };
}

export type HealthReply = { readonly contentType: string; readonly text: string };

const jsonTypes = new Set(["*/*", "application/*", "application/json"]);
