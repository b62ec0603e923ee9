import { useEffect, useState } from "react";
import { useServices } from "./services.ts";
import { maxBytes, pictureType, textOf, type FileContent } from "./file-content.ts";

export const downloadRoute = "GET /api/conversations/{runtime_conversation_id}/file/download";

/** Loads a file, again for each `version`; both fields are null until the server has answered. */
export function useFile(
  conversationId: string,
  path: string,
  version: string,
): { readonly content: FileContent | null; readonly problem: string | null } {
  const { client } = useServices();
  const [known, setKnown] = useState<{ path: string; content: FileContent | null; problem: string | null }>({
    path,
    content: null,
    problem: null,
  });
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<FileContent> => {
      const reply = await client.open(downloadRoute, {
        params: { runtime_conversation_id: conversationId },
        query: { path },
        signal: stop.signal,
      });
      const size = Number(reply.headers.get("content-length") ?? 0);
      const picture = pictureType(path, size);
      if (picture !== null)
        return { type: "picture", blob: new Blob([await reply.arrayBuffer()], { type: picture }) };
      return textOf(await firstOf(reply), size);
    };
    read()
      .then((content) => setKnown({ path, content, problem: null }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        setKnown({ path, content: null, problem: error instanceof Error ? error.message : String(error) });
      });
    return () => stop.abort();
  }, [client, conversationId, path, version]);
  return known.path === path ? known : { content: null, problem: null };
}

/** Reads the beginning of a response; the rest is not loaded. */
async function firstOf(reply: Response): Promise<Uint8Array> {
  const bytes = new Uint8Array(maxBytes);
  if (reply.body === null) return bytes.subarray(0, 0);
  const reader = reply.body.getReader();
  let length = 0;
  while (length < maxBytes) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, length);
    const part = value.subarray(0, maxBytes - length);
    bytes.set(part, length);
    length += part.length;
  }
  await reader.cancel();
  return bytes.subarray(0, length);
}
