import type { Readable } from "node:stream";
import type { Again } from "./ready-answers.ts";

type ReplyHead = {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/**
 * `text` is sent unchanged: stored JSON is never parsed and written again. `stream` is destroyed on a client
 * disconnect. `again` answers the same request the next time.
 */
export type RouteReply = ReplyHead &
  (
    | { readonly json: unknown }
    | { readonly text: string }
    | { readonly stream: Readable; readonly contentType: string }
    | { readonly bytes: Uint8Array; readonly contentType: string; readonly again?: Again | undefined }
  );

/** Headers of answers with secrets, which no cache may store. */
export const notStored = { "cache-control": "no-store" } as const;
