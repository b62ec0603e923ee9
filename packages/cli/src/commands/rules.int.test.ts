import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestServer, testedPrograms } from "@convoke/server/testing";
import { expect, test } from "vitest";

const run = promisify(execFile);
const { command: bin } = testedPrograms();

test("rules are listed and tried beside a running server, with the server's file and the project's", async () => {
  await using server = await startTestServer();
  const rulesFile = join(server.folder, "rules.json");
  const deny = { effect: "deny", tool: "terminal", command: ["git", "push", "**"], note: "Ada pushes" };
  await writeFile(rulesFile, JSON.stringify({ rules: [deny] }));
  await mkdir(join(server.workspaceDir, ".convoke"));
  const project = [{ effect: "allow", tool: "terminal" }];
  await writeFile(join(server.workspaceDir, ".convoke", "rules.json"), JSON.stringify({ rules: project }));
  const allow = { effect: "allow", tool: "terminal", command: ["npm", "test", "**"] };
  await server.call("PUT", "/api/rules", { rules: [allow] });
  const rules = async (...words: string[]): Promise<string> => {
    const place = ["--data-dir", server.dataDir, "--workspace", server.workspaceDir];
    const options = { env: { CONVOKE_RULES: rulesFile }, timeout: 100_000 };
    return (await run(process.execPath, [bin, "rules", ...words, ...place], options)).stdout;
  };
  expect(await rules("ls")).toBe(
    `Server (CONVOKE_RULES)
  0  deny terminal: git push **  (Ada pushes)
User
  0  allow terminal: npm test **
Refused in .convoke/rules.json: rules.0.effect: A project may only ask and deny. Users can allow calls in rules of their own.
`,
  );
  expect(await rules("try", "timeout 5 npm test && ls")).toContain(
    `No rule decides: the confirmation policy of the conversation does.
Read as:
  timeout 5 npm test
    npm test
  ls
`,
  );
  expect(JSON.parse(await rules("--json", "ls"))).toMatchObject({
    rules: [{ source: "server" }, { source: "user" }],
  });
  expect(JSON.parse(await rules("try", "sudo git push", "--json"))).toMatchObject({
    effect: "deny",
    decided_by: { source: "server", index: 0 },
  });
});
