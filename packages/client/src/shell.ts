import type { ShellFrame, ShellInput } from "@convoke/protocol";
import { attach, type AttachOptions } from "./attach.ts";
import type { SocketTarget } from "./connection.ts";

export type ShellOptions = AttachOptions<ShellInput> & {
  /** The id of the shell. */
  readonly shell: string;
};

/** Attaches a person to their own shell, see {@link attach}. The shell stays when they leave. Its last frame is `ended`. */
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
