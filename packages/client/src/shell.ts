import type { ShellFrame, ShellInput } from "@convoke/protocol";
import { attach, type AttachOptions } from "./attach.ts";
import type { SocketTarget } from "./connection.ts";

export type ShellOptions = AttachOptions<ShellInput> & {
  /** The id of the shell. */
  readonly shell: string;
};

/** A person at a shell of their own, see {@link attach}; it stays when they leave. Its last frame is `ended` when it has ended. */
export async function* attachShell(
  target: SocketTarget,
  id: string,
  { shell, ...options }: ShellOptions,
): AsyncIterable<ShellFrame> {
  const place = {
    path: `/sockets/shells/${id}`,
    query: { shell },
    probe: `/api/conversations/${id}/shells`,
  };
  for await (const frame of attach<ShellFrame, ShellInput>(target, place, options)) {
    yield frame;
    if (frame.type === "ended") return;
  }
}
