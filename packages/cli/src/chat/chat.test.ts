import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestServer } from "@convoke/server/testing";
import { expect, test } from "vitest";
import { helpText } from "./talk/own-commands.ts";
import { PlayedChat } from "./testing/played-chat.ts";

const call = (command: string, risk = "LOW") => ({
  name: "terminal",
  arguments: { command, security_risk: risk },
});
const risky = {
  confirmation_policy: { kind: "ConfirmRisky" as const },
  security_analyzer: { kind: "LLMSecurityAnalyzer" as const },
};

test.each([
  { columns: 80, rows: 24 },
  { columns: 200, rows: 60 },
])("a conversation at $columns x $rows: a message, an answer, calls, a question, its end", async (size) => {
  const turns = [
    { text: "I look **first**.\n\n```sh\ncat a\n```", tool_calls: [call("cat a.txt"), call("fail now")] },
    { text: "Now I clean up.", tool_calls: [call("rm -r dist && npm run build", "HIGH")] },
    { text: `All is done. ${"A long sentence that the terminal wraps by itself. ".repeat(5).trimEnd()}` },
  ];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server, { size, start: risky });
  expect(await played.window(["new conversation"])).toMatchSnapshot();
  played.type("please repair it");
  await played.window(["> please repair it"]);
  played.type("\r");
  expect(await played.window(["y once"], ["asks: never"])).toMatchSnapshot();
  played.wait(300);
  played.type("y");
  await played.window(["Type yes"]);
  played.type("yes\r");
  expect(
    await played.window(["by itself.", "✓ 1 line"], ["waiting for", "writing", "Type yes"]),
  ).toMatchSnapshot();
  expect(server.quickTools.started).toEqual(["cat a.txt", "fail now", "rm -r dist && npm run build"]);
});

test("a message sent during a run waits, is taken back for editing, and is sent again; esc interrupts and loses none of it", async () => {
  const turns = [{ text: "One.", tool_calls: [call("hold on")] }, { text: "Two." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server);
  played.type("begin\r");
  await played.window(["$ hold on", "esc interrupts"]);
  played.type("also this\r");
  await played.window(["1 queued"]);
  played.type("\u001b[A");
  await played.window(["> also this"], ["1 queued"]);
  played.type(" thing\r");
  await played.window(["1 queued"], ["> also this"]);
  played.type("half written");
  await played.window(["> half written"]);
  played.type("\u001b");
  await played.window(["interrupted", "1 queued · enter sends them", "> half written"]);
  played.type("\u0003\r");
  const window = await played.window(["Two."], ["queued"]);
  expect(window).toMatch(/> also this thing\n.*Two\./su);
  expect(window.split("also this")).toHaveLength(2);
});

test("no matter who answers first, the question goes; a lost connection is a word, and nothing is shown twice", async () => {
  const turns = [{ tool_calls: [call("touch a", "HIGH")] }, { text: "Done." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server, { start: risky });
  played.type("go\r");
  await played.window(["? Run  touch a"]);
  await server.restart();
  await played.window(["? Run  touch a"], ["reconnecting"]);
  const id = played.chat.link!.id;
  await server.client.respondToConfirmation(id, true);
  const window = await played.window(["Done."], ["? Run"]);
  expect(window.split("Done.")).toHaveLength(2);
});

test("a conversation of before is shown from its newest rows on, and goes on", async () => {
  const turns = [{ text: "First." }, { text: "Second." }, { text: "Third." }];
  await using server = await startTestServer({ script: { turns } });
  await using first = await PlayedChat.open(server);
  first.type("one\r");
  await first.window(["First."]);
  first.type("two\r");
  await first.window(["Second."], ["writing", "waiting"]);
  const id = first.chat.link!.id;
  await using played = await PlayedChat.open(server, { firstRows: 2 }, id);
  const window = await played.window(["> two", "Second.", "earlier"]);
  expect(window).not.toContain("First.");
  played.type("three\r");
  // The other window follows as well.
  await Promise.all([played.window(["Third."]), first.window(["> three", "Third."])]);
});

test("commands, completion and the composer's own keys", async () => {
  const turns = [{ text: "Hello." }, { text: "Aside." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server);
  played.type("/he");
  await played.window(["> /help"]);
  played.type("\t\r");
  await played.window(["/rename", "/quit"]);
  played.type("/stop\r");
  await played.window(["There is no conversation yet"]);
  played.type("\u0003hi\r");
  await played.window(["Hello."], ["waiting", "writing"]);
  played.type("/rename A name\r");
  const titleNow = async () => (await server.client.getConversation(played.chat.link!.id)).title;
  await expect.poll(titleNow).toBe("A name");
  played.type("/mode always\r");
  await played.window(["asks: always"]);
  played.type("/mode perhaps\r");
  await played.window(["never, risky or always", "> /mode perhaps"]);
  played.type("\u0003/mode");
  await played.window(["> /mode  when to ask"]);
  played.type("\r");
  await played.window(["when to ask before an action: _", "> never"], ["> /mode"]);
  played.type("al\r");
  await played.window(["asks: always"], ["1 of"]);
  played.type("/agents\r");
  await played.window(["no sub-agents"], ["> /agents"]);
  played.type("/hlep me\r");
  await played.window(["Did you mean /help?", "> /hlep me"]);
  played.type("\u0003one\\\rtwo\u0007");
  await played.window(["  two edited"]);
  played.type("\u0003\u001b[A");
  await played.window(["> /mode"]);
  played.type("\u0003\u0012hi");
  await played.window(["sent before: hi", "1 of 1"]);
  played.type("\r");
  await played.window(["> hi"], ["sent before"]);
});

test("what is entered while something is being sent follows it", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "One." }, { text: "Two." }] } });
  await using played = await PlayedChat.open(server);
  played.type("first\r");
  await played.window(["One."], ["waiting", "writing"]);
  played.type("/rename A name\r");
  played.type("/mode always\r");
  await played.window(["asks: always"]);
  expect((await server.client.getConversation(played.chat.link!.id)).title).toBe("A name");
});

test("what was cut is there as a whole in the pager", async () => {
  const turns = [{ text: "Look.", tool_calls: [call(`fail ${"x\n".repeat(30)}end`)] }, { text: "So it is." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server);
  played.type("go\r");
  await played.window(["(ctrl-o)", "So it is."]);
  played.type("\u000f");
  await expect.poll(() => played.pages).toHaveLength(1);
  expect(played.pages[0]!.split("\nx\nx").length).toBeGreaterThan(10);
});

test("for screen readers there are lines alone: what is said, a question, its end", async () => {
  const turns = [{ text: "Look.", tool_calls: [call("touch a", "MEDIUM")] }, { text: "Made." }];
  const always = { confirmation_policy: { kind: "AlwaysConfirm" as const } };
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server, {
    isPlain: true,
    start: always,
    size: { columns: 400, rows: 24 },
  });
  played.type("go\r");
  await played.window(["? Run  touch a", "y once"]);
  played.wait(300);
  played.type("y\r");
  await played.window(["Made.", "done"]);
  const text = played.writes.join("");
  // oxlint-disable-next-line no-control-regex -- colours are the theme's, which the command leaves out
  expect(text.replaceAll(/\u001b\[\d+m/gu, "")).not.toContain("\u001b");
  expect(text).toContain("$ touch a");
  // While a question is open nothing is done.
  expect(text.match(/^done$/gmu)).toHaveLength(1);
});

test("who has left is shown nothing any more, whatever still comes", async () => {
  const turns = [{ tool_calls: [call("touch a", "HIGH")] }, { text: "Done." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server, { start: risky });
  played.type("go\r");
  await played.window(["? Run  touch a"]);
  const { id } = played.chat.link!;
  played.type("\u0004");
  await played.ended;
  const count = played.writes.length;
  played.chat.draw();
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
  expect(played.writes).toHaveLength(count);
});

test("a message says what happens while the agent works: alt-q and /later send it for when the run has ended, /while changes the default", async () => {
  const turns = [{ tool_calls: [call("hold on")] }, { text: "One." }, { text: "Two." }, { text: "Three." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server);
  played.type("/help\r");
  await played.window(["/later", "/while"]);
  expect(helpText).toContain("alt-q");
  played.type("begin\r");
  await played.window(["$ hold on"]);
  played.type("then alpha\u001bq");
  await played.window(["1 queued"]);
  played.type("/later then bravo\r");
  await played.window(["2 queued"]);
  played.type("/queue\r");
  await played.window(["1  then alpha  after the run", "2  then bravo  after the run"]);
  // The newest one comes back to be edited.
  played.type("\u001b[A");
  await played.window(["> then bravo", "1 queued"]);
  played.type("\u0003/while queue\r");
  await played.window(["while the agent works: queue"]);
  played.type("then charlie\r");
  await played.window(["2 queued"]);
  server.quickTools.release();
  const window = await played.window(["One.", "Two.", "Three."], ["queued"]);
  expect(window).toMatch(/One\.[^]*> then alpha[^]*Two\.[^]*> then charlie[^]*Three\./);
});

test("client tools: the terminal says that a call waits for the client, until its result is there", async () => {
  const turns = [{ tool_calls: [{ id: "kiel", name: "weather", arguments: {} }] }, { text: "Rain." }];
  const weather = { name: "weather", description: "Reports the weather.", waits_for_result: true };
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server, { start: { client_tools: [weather] } });
  played.type("go\r");
  await played.window(["waiting for a client: weather"]);
  await server.call("POST", `/api/conversations/${played.chat.link!.id}/tool_results`, {
    results: [{ tool_call_id: "kiel", content: "rain" }],
  });
  await played.window(["Rain."], ["waiting for a client"]);
});

test("issue 26: /undo takes the last message back into the composer; a branch begins before it", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "First." }, { text: "Second." }] },
  });
  await using played = await PlayedChat.open(server);
  played.type("one\r");
  await played.window(["First."], ["waiting", "writing"]);
  played.type("/undo now\r");
  await played.window(["No changed file is at now"]);
  played.type("\u0003/undo\r");
  await played.window(["> one", "went on from an earlier place", "Files stay as\nthey are"]);
  played.type(" more\r");
  // The scripted model counts the answers that it reads: there is none.
  await played.window(["> one more\n● First."], ["waiting", "writing"]);
  const { items } = await server.client.searchEvents(played.chat.link!.id, { limit: 100 });
  const messages = items.filter(({ kind, source }) => kind === "MessageEvent" && source === "user");
  expect(messages).toHaveLength(2);
  played.type("/diff\r");
  await played.window(["No file is changed."]);
});

test("issue 26: /plan before a conversation lets it plan first; /plan approve lets the agent work", async () => {
  const turns = [{ text: "Planned." }, { text: "Built." }];
  await using server = await startTestServer({ script: { turns } });
  await using played = await PlayedChat.open(server);
  played.type("/plan\r");
  await played.window(["new conversation · plans first"]);
  played.type("think\r");
  await played.window(["Planned.", "plans only"], ["waiting", "writing"]);
  played.type("/plan\r");
  await played.window(["The agent has written no plan yet."]);
  played.type("\u0003/plan approve go\r");
  await played.window(["Built."], ["plans only", "waiting", "writing"]);
  played.type("/plan approve\r");
  await played.window(["the agent does not plan now"]);
});

test("issue 26: pictures come from the clipboard or a path, and a theme is chosen by name", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "A picture." }] } });
  const path = join(server.folder, "shot.png");
  await writeFile(path, "any");
  await using played = await PlayedChat.open(server);
  played.type("\u0016");
  await played.window(["> [image 1: clipboard.png]"]);
  played.type(" see\r");
  await played.window(["(image 1)", "A picture."]);
  played.type("/image notes.txt\r");
  await played.window(["notes.txt is no picture"]);
  played.type(`\u0003/image ${path}\r`);
  await played.window(["> [image 1: shot.png]"]);
  played.type("\u0003/theme\r");
  await played.window(["theme:", "default", "high-contrast"]);
  played.type("mono\r");
  await played.window([], ["theme:"]);
  const count = played.writes.length;
  played.type("/theme none\r");
  await played.window(["There is no theme none"]);
  expect(played.writes.slice(count).join("")).not.toContain("\u001b[33m");
});

test("issue 26: /export writes a new file, and never over one that is there", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Noted." }] } });
  await using played = await PlayedChat.open(server);
  played.type("/export\r");
  await played.window(["There is no conversation yet"]);
  played.type("\u0003write it down\r");
  await played.window(["Noted."], ["waiting", "writing"]);
  const file = join(server.folder, "notes.md");
  played.type(`/export ${file}\r`);
  await played.window(["notes.md", "bytes"], ["> /export"]);
  expect(await readFile(file, "utf8")).toContain("Noted.");
  played.type(`/export markdown ${file}\r`);
  await played.window(["is there already"]);
  played.type("\u0003/export pdf\r");
  await played.window(["/export markdown, html, jsonl, atif, zip"]);
});

test("issue 26: the last conversation of the folder is offered: enter goes on, escape or a message begins a new one", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Before." }] } });
  const id = await server.runTo("finished", "Begin.");
  const last = { id, title: "The failing test", ageMs: 7_260_000 };
  await using played = await PlayedChat.open(server, { last });
  expect(await played.window(["? Go on with  The failing test  2 h 1 min ago"])).toMatchSnapshot();
  played.type("\r");
  await played.window(["Before."], ["? Go on with"]);
  await using second = await PlayedChat.open(server, { last });
  await second.window(["? Go on with"]);
  second.type("\u001b");
  second.wait(300);
  await second.window(["new conversation"], ["? Go on with"]);
  await using third = await PlayedChat.open(server, { last });
  await third.window(["? Go on with"]);
  third.type("now hello\r");
  await third.window(["> now hello", "Before."], ["? Go on with", "> Begin."]);
  expect(third.chat.link!.id).not.toBe(id);
});
