import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { startTestServer } from "@convoke/server/testing";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

/** The first TypeScript block of a package's README. */
function exampleOf(folder: string): string {
  const text = readFileSync(path.join(root, "packages", folder, "README.md"), "utf8");
  const [, code = ""] = /```ts\n([\s\S]+?)```/.exec(text) ?? [];
  return code;
}

/** Output of a program that is run in the repository's folder. */
async function run(code: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module-typescript", "--eval", code],
    { cwd: root, env: { ...process.env, ...environment } },
  );
  return stdout;
}

test("every package has a README, whose links lead somewhere, that says how to run its tests", () => {
  for (const manifest of globSync("packages/*/package.json", { cwd: root })) {
    const folder = path.join(root, path.dirname(manifest));
    const text = readFileSync(path.join(folder, "README.md"), "utf8");
    expect(text).toContain(`npx vitest run --project fast ${path.dirname(manifest)}`);
    const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = ""]) => target);
    expect(links.filter((target) => !existsSync(path.resolve(folder, target)))).toEqual([]);
  }
});

test("published packages link nothing outside of them", () => {
  for (const folder of ["protocol", "client"]) {
    expect(readFileSync(path.join(root, "packages", folder, "README.md"), "utf8")).not.toContain("](..");
  }
});

test("the example of the protocol runs", async () => {
  expect(await run(exampleOf("protocol"))).toMatch(/^user sends \[.*Hello/s);
});

test("the example of the client runs against a server", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  await server.client.updateConversation(id, { title: "README" });
  const code = exampleOf("client").replace("http://127.0.0.1:8000", server.url);
  expect(await run(code, { KEY: server.key })).toBe(`${id} idle README\n`);
});
