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
  played.type("\u0003one\\\rtwo\u0007");
  await played.window(["  two edited"]);
  played.type("\u0003\u001b[A");
  await played.window(["> /mode always"]);
  played.type("\u0003\u0012hi");
  await played.window(["sent before: hi", "1 of 1"]);
  played.type("\r");
  await played.window(["> hi"], ["sent before"]);
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
  await using played = await PlayedChat.open(server, { isPlain: true, start: always });
  played.type("go\r");
  await played.window(["? Run  touch a", "y once"]);
  played.wait(300);
  played.type("y\r");
  await played.window(["Made.", "done"]);
  const text = played.writes.join("");
  // oxlint-disable-next-line no-control-regex -- colours are the theme's, which the command leaves out
  expect(text.replaceAll(/\u001b\[\d+m/gu, "")).not.toContain("\u001b");
  expect(text).toContain("$ touch a");
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
