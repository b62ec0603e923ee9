import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { findMarkedProcesses } from "../../system/process-table.ts";
import { createBrowserBench } from "./testing/browser-bench.ts";
import { BrowserPerson } from "./testing/browser-person.ts";
import { openLocalPlace } from "./testing/local-place.ts";
import { shareBrowserBench } from "./testing/share-browser-bench.ts";
import { describeWatching } from "./testing/watching-cases.ts";

describeWatching(shareBrowserBench(() => openLocalPlace()));

async function openOwnBench(mark: string) {
  const place = await openLocalPlace({ environment: { BROWSER_TEST: mark } });
  onTestFinished(() => place[Symbol.asyncDispose]());
  const surfer = await createBrowserBench(place).surf();
  return { surfer, pids: () => findMarkedProcesses(`BROWSER_TEST=${mark}`).map(({ pid }) => pid) };
}

test("a crash is seen, takes the browser from whoever has it, and pictures come again with the next browser", async () => {
  const { surfer, pids } = await openOwnBench(`watched-crash-${process.pid}`);
  await surfer.open("/watched");
  await using person = BrowserPerson.at(surfer.session);
  await person.until(() => person.pictures.length > 0);
  await person.take();
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  await person.until(() => person.isOpen === false && person.lent?.isYours === false);
  const seen = person.pictures.length;
  // Taking control restarts it, with its tabs.
  await person.take();
  await person.until(() => person.pictures.length > seen);
  await person.until(() => person.front?.title === "Watched");
  await person.give();
  expect((await surfer.state()).title).toBe("Watched");
});

test("no picture is made, and no process is left, when nobody watches any more", async () => {
  let frames = 0;
  const started: ChildProcess[] = [];
  const onStart = (message: unknown): void =>
    void started.push((message as { process: ChildProcess }).process);
  subscribe("child_process", onStart);
  onTestFinished(() => void unsubscribe("child_process", onStart));
  const { surfer, pids } = await openOwnBench(`watched-end-${process.pid}`);
  await surfer.open("/moving");
  // A second reader of the browser's pipe.
  for (const pipe of started.map(({ stdio }) => stdio[4]))
    if (pipe instanceof Readable)
      pipe.prependListener("data", (bytes: Buffer) => (frames += bytes.includes("screencastFrame") ? 1 : 0));
  await surfer.run("ListTabs");
  expect(frames).toBe(0);
  const person = BrowserPerson.at(surfer.session);
  const other = BrowserPerson.at(surfer.session);
  await person.until(() => person.pictures.length > 2);
  await person[Symbol.asyncDispose]();
  await other.seesAnother();
  await other.leave();
  // Earlier messages have arrived before the answer to a later question.
  await surfer.run("ListTabs");
  await surfer.content();
  const seen = frames;
  expect(seen).toBeGreaterThan(2);
  for (let reads = 0; reads < 20; reads++) await surfer.run("GetState");
  expect(frames).toBe(seen);
  await surfer[Symbol.asyncDispose]();
  await expect.poll(pids).toEqual([]);
});
