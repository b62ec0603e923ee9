import { allowedEnvironment, createInProcessHost, defaultTools } from "@convoke/tool-host";
import { openTemporaryDirectory, XtermPerson } from "@convoke/tool-host/testing";
import { startTestServer, testedPrograms } from "@convoke/server/testing";
import { expect, test } from "vitest";

const { command } = testedPrograms();
const environment = allowedEnvironment(process.env);
const call = (name: string, given: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: given }] });

test("issue 11.4: convoke attach takes the terminal of an agent, is as large as one's own, and gives it back", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        call("terminal", { command: "here=agent; echo said by $here" }),
        call("finish", { message: "Yours." }),
        call("terminal", { command: "echo then $here" }),
        call("finish", { message: "Done." }),
      ],
    },
    tools: defaultTools(),
    environment,
  });
  const id = await server.runTo("finished", "Begin.");

  // A real terminal for the command to run in.
  await using folder = await openTemporaryDirectory();
  await using host = createInProcessHost({ tools: defaultTools(), environment });
  await using session = await host.openSession({
    sessionId: "outer",
    workspaceDir: folder.path,
    stateDir: `${folder.path}/state`,
    tools: [{ name: "terminal" }],
  });
  await using person = XtermPerson.at(session);
  await person.take({ columns: 90, rows: 25 });
  await person.sees(/[$#]$/m);
  const attach = `SESSION_API_KEY=${server.key} ${process.execPath} ${command} attach --server ${server.url}`;
  person.press(`${attach} ${id}\r`);
  await person.sees(/said by agent/);
  await person.until(() => /said by agent\n[^\n]*[$#]$/.test(person.screen));
  person.press("here=person; stty size; echo $((40 + 2))\r");
  await person.sees(/^25 90\n42$/m);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Go on." }], run: true });
  await server.waitForStatus(id, "running");
  person.press("\u001d");
  await server.waitForStatus(id, "finished");
  expect(JSON.stringify(await server.events(id))).toContain("then person");

  person.press(`clear; ${attach} ${id} --terminal dev; echo code $?\r`);
  await person.sees(/There is no terminal "dev"[^]*code 1/);
  person.press(`clear; ${attach} 00000000-0000-4000-8000-000000000000; echo code $?\r`);
  await person.sees(/Conversation not found[^]*code 1/);
  person.press(`clear; ${attach} ${id} < /dev/null; echo code $?\r`);
  await person.sees(/--watch[^]*code 2/);
  person.press(`clear; ${attach} ${id} --watch < /dev/null\r`);
  await person.sees("then person");
  person.press("\u0003");
  person.press("echo le''ft\r");
  await person.sees(/^left$/m);
});
