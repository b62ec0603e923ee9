import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Every sandbox loads these when it starts: schemas and encoding tables would double a tool host's loading time (B12). */
const expected = ["@lydell/node-pty", "@vscode/ripgrep", "@xterm/headless"];

test("a tool host loads the packages of its terminal and its search, and no other", async () => {
  const script = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    await import(${JSON.stringify(new URL("index.ts", import.meta.url).href)});
    console.log(JSON.stringify(urls));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  const urls = JSON.parse(stdout) as string[];
  expect(urls.some((url) => url.endsWith("/in-process-host.ts"))).toBe(true);
  const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  expect(expected).toEqual(expect.arrayContaining([...new Set(packages)]));
  const ofProtocol = urls.filter((url) => url.includes("/packages/protocol/"));
  expect(ofProtocol.map((url) => url.replace(/.*\//, ""))).toEqual(
    expect.arrayContaining(["count-json-values.ts", "once-unless-rejected.ts"]),
  );
  expect(ofProtocol).toHaveLength(2);
});
