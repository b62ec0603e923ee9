import { ApiError } from "@convoke/client";
import { expect, test } from "vitest";
import { foldRows, type Row, type UnknownRecord } from "@convoke/client/view";
import { PlayedLog } from "../testing/played-log.ts";
import { SampleLog } from "@convoke/client/testing";
import { OpenLog, type LogDeps } from "./open-log.ts";
import { OpenLogs } from "./open-logs.ts";
import { maxRows } from "./row-window.ts";

function longLog(commands: number): SampleLog {
  const log = new SampleLog();
  log.message("go");
  for (let index = 0; index < commands; index += 1) log.command(`echo ${index}`, String(index));
  return log;
}

const depsOf = (server: PlayedLog): LogDeps => ({
  source: server.source,
  nextFrame: (callback) => queueMicrotask(callback),
  now: () => 0,
  onFailure: (error) => {
    throw error;
  },
});

test("U6: opening reads the end by one page, however long the log is", async () => {
  const server = new PlayedLog(longLog(400).events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  expect(server.requests).toBe(1);
  expect(log.view.snapshot()).toMatchObject({ hasOlder: true });
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events.slice(-100)));
  log.hide();
});

test("J8: older pages come in front until the whole log is there, none twice", async () => {
  const server = new PlayedLog(longLog(120).events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  while (log.view.snapshot().hasOlder) await Promise.all([log.loadOlder(), log.loadOlder()]);
  expect(server.requests).toBe(3);
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events));
  log.hide();
});

test("J8: a window around an event of long ago grows both ways, and follows the log once it reaches its end", async () => {
  const server = new PlayedLog(longLog(300).events);
  const at = String(server.events[200]!["id"]);
  const logs = new OpenLogs(depsOf(server));
  const close = logs.watch("c", at);
  const log = logs.get("c", at);
  expect(log).not.toBe(logs.get("c"));
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  expect(log.view.snapshot()).toMatchObject({ hasOlder: true, hasNewer: true });
  expect(log.view.snapshot().rows.length).toBeGreaterThan(0);
  while (log.view.snapshot().hasNewer) await Promise.all([log.loadNewer(), log.loadNewer()]);
  while (log.view.snapshot().hasOlder) await log.loadOlder();
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events));
  server.append({ kind: "PauseEvent", id: "0193-900000", timestamp: "", source: "user" });
  await expect.poll(() => log.view.snapshot().rows.at(-1)?.type).toBe("halt");
  close();
});

test("J30: logs that are looked at rest while nobody is logged in, and go on behind what they have", async () => {
  const server = new PlayedLog(longLog(10).events);
  const logs = new OpenLogs(depsOf(server));
  const close = logs.watch("c");
  const log = logs.get("c");
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  logs.rest();
  server.append({ kind: "PauseEvent", id: "0193-900000", timestamp: "", source: "user" });
  logs.wake();
  await expect.poll(() => log.view.snapshot().rows.at(-1)?.type).toBe("halt");
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events));
  close();
});

test("J21: a window of the past ends with its event, says how things stood there, and takes in nothing that comes", async () => {
  const server = new PlayedLog(longLog(300).events);
  const at = String(server.events[200]!["id"]);
  const logs = new OpenLogs(depsOf(server));
  const past = {
    conversation: { execution_status: "waiting_for_confirmation", title: "Then" },
    version: 201,
    open_actions: [{ action_id: "a", is_waiting: true }],
    queued: ["m"],
  };
  const close = logs.watch("c", at, past);
  const log = logs.get("c", at, past);
  expect(log).not.toBe(logs.get("c", at));
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  expect(server.requests).toBe(1);
  expect(log.view.snapshot()).toMatchObject({
    hasNewer: false,
    lastEventId: at,
    state: { status: "waiting_for_confirmation", title: "Then", openActions: [{ id: "a" }], queued: ["m"] },
  });
  server.append({ kind: "PauseEvent", id: "0193-900000", timestamp: "", source: "user" });
  while (log.view.snapshot().hasOlder) await log.loadOlder();
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events.slice(0, 201)));
  close();
});

test("J13: after cuts at any moment the rows are those of the log", async () => {
  const whole = longLog(60).events;
  const server = new PlayedLog(whole.slice(0, 10));
  const log = new OpenLog("c", depsOf(server));
  log.show();
  for (const event of whole.slice(10)) {
    server.append(event);
    if (Number(String(event["id"]).slice(-2)) % 7 !== 0) continue;
    server.cut();
    log.hide();
    log.show();
  }
  await expect.poll(() => log.view.snapshot().rows.length).toBe(foldRows(whole).length);
  expect(log.view.snapshot().rows).toEqual(foldRows(whole));
  log.hide();
});

test("U7: what was read stays when one looks elsewhere, and looking again asks only for what is new", async () => {
  const server = new PlayedLog(longLog(10).events);
  const logs = new OpenLogs(depsOf(server));
  const leave = logs.watch("c");
  await expect.poll(() => logs.get("c").view.snapshot().phase).toBe("ready");
  leave();
  const added = new SampleLog();
  server.append({ ...added.events[0], kind: "PauseEvent", id: "0193-900000", timestamp: "" });
  const again = logs.watch("c");
  await expect.poll(() => logs.get("c").view.snapshot().rows.at(-1)?.type).toBe("halt");
  expect(server.requests).toBe(1);
  again();
});

test("a log that has lost its end at the server is read again, and nothing of the lost end stays", async () => {
  const whole = longLog(10).events;
  const server = new PlayedLog([...whole]);
  const { source, ...deps } = depsOf(server);
  let isSetBack = false;
  const log = new OpenLog("c", {
    ...deps,
    source: {
      ...source,
      follow: (id, options) => {
        if (isSetBack && server.events.every((event) => event["id"] !== options.afterEventId))
          throw new ApiError(422, "after_event_id names no event of this conversation.", null, []);
        return source.follow(id, options);
      },
    },
  });
  log.show();
  await expect.poll(() => log.view.snapshot().rows).toEqual(foldRows(whole));
  log.hide();
  server.events.splice(-3);
  isSetBack = true;
  log.show();
  await expect.poll(() => log.view.snapshot().rows).toEqual(foldRows(whole.slice(0, -3)));
  log.hide();
});

test("a conversation that is not there is said to be missing", async () => {
  const server = new PlayedLog([]);
  const deps = depsOf(server);
  const log = new OpenLog("c", {
    ...deps,
    source: { ...deps.source, conversation: () => Promise.reject(new ApiError(404, "Not found.", null, [])) },
  });
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("missing");
});

const command = (index: number): UnknownRecord => ({
  id: `0193-${900_000 + index}`,
  timestamp: "",
  kind: "ActionEvent",
  source: "agent",
  tool_name: "terminal",
  tool_call_id: `late-${index}`,
  action: { kind: "TerminalAction", command: `late ${index}` },
});

/** Evicts all rows but some around the one at `index`. */
function evictFarFrom(log: OpenLog, index: number): void {
  const { rows } = log.view.snapshot();
  log.evictOutside(rows[Math.max(0, index - 300)]!.id, rows[Math.min(rows.length - 1, index + 300)]!.id);
}

test("U8: reading up through 10,000 events keeps a bounded number of rows, and what is there is what the log says", async () => {
  const server = new PlayedLog(longLog(5_000).events);
  const whole = foldRows(server.events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  let maxSeen = 0;
  const check = (): void => {
    const { rows } = log.view.snapshot();
    maxSeen = Math.max(maxSeen, rows.length);
    const from = whole.findIndex(({ id }) => id === rows[0]!.id);
    const shape = (row: Row): string => `${row.id} ${row.type === "action" ? row.outcome?.id : ""}`;
    expect(rows.map(shape)).toEqual(whole.slice(from, from + rows.length).map(shape));
  };
  for (let page = 0; log.view.snapshot().hasOlder; page += 1) {
    await log.loadOlder();
    evictFarFrom(log, 0);
    if (page % 50 === 0) check();
  }
  expect(log.view.snapshot()).toMatchObject({ hasOlder: false, hasNewer: true });
  expect(log.view.snapshot().rows.slice(0, 100)).toEqual(whole.slice(0, 100));
  for (let page = 0; log.view.snapshot().hasNewer; page += 1) {
    await log.loadNewer();
    evictFarFrom(log, log.view.snapshot().rows.length - 1);
    if (page % 50 === 0) check();
  }
  check();
  expect(log.view.snapshot().rows.slice(-100)).toEqual(whole.slice(-100));
  expect(maxSeen).toBeLessThanOrEqual(maxRows + 100);
  log.hide();
});

test("U8: while the end is let go of the log is followed all the same, and one is back there at once", async () => {
  const server = new PlayedLog(longLog(3_000).events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  while (log.view.snapshot().hasOlder) {
    await log.loadOlder();
    evictFarFrom(log, 0);
  }
  const { rows, newest } = log.view.snapshot();
  expect(newest).toEqual(foldRows(server.events).slice(-newest.length));
  server.append(...Array.from({ length: 500 }, (_, index) => command(index)));
  await expect.poll(() => log.view.snapshot().newest.at(-1)?.id).toBe(command(499)["id"]);
  expect(log.view.snapshot().rows).toEqual(rows);
  expect(log.view.snapshot().newest.length).toBeLessThanOrEqual(400);
  const { requests } = server;
  log.toEnd();
  expect(log.view.snapshot()).toMatchObject({ hasNewer: false, hasOlder: true });
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events).slice(-log.view.snapshot().rows.length));
  expect(server.requests).toBe(requests);
  await log.loadOlder();
  expect(log.view.snapshot().rows).toEqual(foldRows(server.events).slice(-log.view.snapshot().rows.length));
  log.hide();
});

test("J21, U8: what a window of the past has let go of is read again up to its event and no further", async () => {
  const server = new PlayedLog(longLog(2_500).events);
  const at = String(server.events[4_700]!["id"]);
  const log = new OpenLog("c", depsOf(server), at, { conversation: {} });
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  while (log.view.snapshot().hasOlder) {
    await log.loadOlder();
    evictFarFrom(log, 0);
  }
  expect(log.view.snapshot().hasNewer).toBe(true);
  while (log.view.snapshot().hasNewer) {
    await log.loadNewer();
    evictFarFrom(log, log.view.snapshot().rows.length - 1);
  }
  const { rows } = log.view.snapshot();
  expect(rows).toEqual(foldRows(server.events.slice(0, 4_701)).slice(-rows.length));
  log.hide();
});

test("U8: reading down to the end meets what was added meanwhile, none lost and none twice", async () => {
  const server = new PlayedLog(longLog(2_500).events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  while (log.view.snapshot().hasOlder) {
    await log.loadOlder();
    evictFarFrom(log, 0);
  }
  for (let index = 0; log.view.snapshot().hasNewer; index += 1) {
    const page = log.loadNewer();
    // The event is stored after the server built the page and before the page arrives.
    if (index < 40) server.append(command(index));
    await page;
    evictFarFrom(log, log.view.snapshot().rows.length - 1);
  }
  server.append(command(40));
  await expect.poll(() => log.view.snapshot().rows.at(-1)?.id).toBe(command(40)["id"]);
  const { rows } = log.view.snapshot();
  expect(rows).toEqual(foldRows(server.events).slice(-rows.length));
  log.hide();
});

test("U11: a piece of an answer changes the answer alone; nothing else is drawn again", async () => {
  const server = new PlayedLog(longLog(3).events);
  const log = new OpenLog("c", depsOf(server));
  log.show();
  await expect.poll(() => log.view.snapshot().phase).toBe("ready");
  const delta = (seq: number, text: string): UnknownRecord => ({
    kind: "AnswerDelta",
    answer_id: "a",
    seq,
    text,
  });
  server.append(delta(1, "It "));
  await expect.poll(() => log.live.snapshot()?.items[0]?.text).toBe("It ");
  const view = log.view.snapshot();
  server.append(delta(2, "is "), delta(3, "done."));
  await expect.poll(() => log.live.snapshot()?.items[0]?.text).toBe("It is done.");
  expect(log.view.snapshot()).toBe(view);
  server.append({ kind: "PauseEvent", id: "0193-900000", timestamp: "", source: "user" });
  await expect.poll(() => log.view.snapshot().rows.at(-1)?.type).toBe("halt");
  log.hide();
});
