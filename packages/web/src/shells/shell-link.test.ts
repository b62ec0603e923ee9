import { ApiError, ConnectionError } from "@convoke/client";
import type { ShellFrame, ShellInput } from "@convoke/protocol";
import { expect, test } from "vitest";
import { ShellLink } from "./shell-link.ts";

const screen = (text: string): ShellFrame => ({ type: "screen", text, columns: 80, rows: 24 });

/** A server that shows these frames on its first, second, ... connection and keeps what it is sent; an error breaks the connection. */
function server(...connections: readonly (readonly (ShellFrame | Error)[])[]) {
  const sent: ShellInput[] = [];
  const left = [...connections];
  return {
    sent,
    attachShell: async function* (_id: string, { inputs }: { inputs: AsyncIterable<ShellInput> }) {
      for (const frame of left.shift() ?? []) {
        if (frame instanceof Error) throw frame;
        yield frame;
      }
      for await (const input of inputs) sent.push(input);
    },
  };
}

function watch(client: ReturnType<typeof server>) {
  const seen: unknown[] = [];
  const link = new ShellLink(client, "id", "shell", {
    take: (frame) => seen.push("text" in frame ? frame.text : frame.type),
    end: (exitCode) => seen.push({ exitCode }),
    report: (problem) => seen.push({ problem }),
  });
  return { seen, link };
}

test("a connection that breaks is made again and shows everything again, until the shell has ended", async () => {
  const broken = new ConnectionError("here", new Error("gone"));
  const { seen, link } = watch(
    server(
      [screen("all"), { type: "output", text: "more" }, broken],
      [screen("all and more"), { type: "ended", exit_code: 3 }],
    ),
  );
  await expect.poll(() => seen).toEqual(["all", "more", "all and more", { exitCode: 3 }]);
  link.stop();
});

test("what is typed goes to the server; what it refuses is told", async () => {
  const client = server([screen(""), { type: "refused", reason: "No." }]);
  const { seen, link } = watch(client);
  await expect.poll(() => seen).toEqual(["", { problem: "No." }]);
  link.send({ type: "type", text: "ls\r" });
  await expect.poll(() => client.sent).toEqual([{ type: "type", text: "ls\r" }]);
  link.stop();
});

test("a shell that is not there has ended, and a refusal is not tried again", async () => {
  const gone = watch(server([new ApiError(404, "Shell not found.", null, [])]));
  await expect.poll(() => gone.seen).toEqual([{ exitCode: null }]);
  const refused = watch(server([new ApiError(401, "Log in.", null, [])]));
  await expect.poll(() => refused.seen).toEqual([{ problem: "Log in." }]);
});
