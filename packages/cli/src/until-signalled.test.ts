import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

/** Says "stopping" at the first signal to end, and what it gets after that; never ends by itself. */
const program = `
  import { untilSignalled } from ${JSON.stringify(new URL("until-signalled.ts", import.meta.url).href)};
  const stopped = untilSignalled();
  setInterval(() => {}, 1000);
  console.log("ready");
  await stopped;
  console.log("stopping");
  process.on("SIGHUP", () => console.log("SIGHUP again"));
`;

type Program = { readonly child: ChildProcess; readonly line: () => Promise<unknown> };

async function start(): Promise<Program> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<unknown> => (await lines.next()).value;
  expect(await line()).toBe("ready");
  return { child, line };
}

test.each([
  ["SIGINT", "SIGINT"],
  ["SIGTERM", "SIGINT"],
  ["SIGHUP", "SIGTERM"],
] as const)("%s asks to end, and then %s ends at once with code 130", async (first, second) => {
  const { child, line } = await start();
  child.kill(first);
  expect(await line()).toBe("stopping");
  const ended = once(child, "exit");
  child.kill(second);
  expect(await ended).toEqual([130, null]);
});

test.each(["SIGHUP", "SIGTERM"] as const)("after %s, SIGHUP does not end it at once", async (first) => {
  const { child, line } = await start();
  child.kill(first);
  expect(await line()).toBe("stopping");
  child.kill("SIGHUP");
  expect(await line()).toBe("SIGHUP again");
  expect(child.exitCode).toBeNull();
});
