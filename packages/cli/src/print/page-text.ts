import { spawn } from "node:child_process";
import { once } from "node:events";

/** Prints lines as they come; at a terminal through `$PAGER`, or `less`, which ends by itself where one screen is enough. */
export async function pageText(lines: AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  if (!stdout.isTTY) {
    for await (const line of lines) await write(stdout, line);
    return;
  }
  const pager = process.env["PAGER"] || "less";
  const child = spawn("sh", ["-c", pager], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", ...process.env },
  });
  const ended = once(child, "close");
  let isOver = false;
  // Who has seen enough leaves the pager.
  child.stdin.on("error", () => (isOver = true));
  for await (const line of lines) {
    if (isOver || child.exitCode !== null) break;
    await write(child.stdin, line);
  }
  child.stdin.end();
  await ended;
}

async function write(stream: NodeJS.WritableStream, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await Promise.race([once(stream, "drain"), once(stream, "close")]);
}
