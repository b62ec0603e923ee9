import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { watchServerLeaks } from "../../../testing/check-leaks.ts";
import { startMcpHttpServer } from "../../../testing/mcp/http-server.ts";
import { startTestServer } from "../../../testing/start-server.ts";

const program = fileURLToPath(new URL("../../../testing/mcp/stdio-server.ts", import.meta.url));

test("a server is tried: its tools, a call, an unknown tool, a refused connection, silence; nothing is left", async () => {
  const leaks = await watchServerLeaks();
  {
    await using server = await startTestServer({ environment: { PATH: "/usr/local/bin:/usr/bin:/bin" } });
    await using http = await startMcpHttpServer();
    const stdio = (mode: string) => ({ type: "stdio", command: process.execPath, args: [program, mode] });
    const attempt = async (body: object) => (await server.call("POST", "/api/mcp/test", body)).json;
    expect(await attempt({ server: { url: http.url, type: "shttp" } })).toEqual({
      ok: true,
      tools: ["read", "write"],
    });
    const call = { name: "echo", arguments: { text: "of secret-token-123" } };
    expect(
      await attempt({ server: { ...stdio("good"), env: { TOKEN: "secret-token-123" } }, tool_call: call }),
    ).toEqual({
      ok: true,
      tools: ["echo", "environment"],
      tool_result: { is_error: false, text: "echo of <secret-hidden>" },
    });
    expect(await attempt({ server: stdio("good"), tool_call: { name: "nothing" } })).toEqual({
      ok: true,
      tools: ["echo", "environment"],
      tool_result: {
        is_error: true,
        text: 'The server has no tool "nothing". It has these: echo, environment.',
      },
    });
    const silent = { name: "echo", arguments: { text: "a" } };
    expect(await attempt({ server: stdio("hang-mid-call"), tool_call: silent, timeout: 3 })).toEqual({
      ok: true,
      tools: ["echo", "environment"],
      tool_result: { is_error: true, text: "The tool did not answer within 3 s." },
    });
    expect(await attempt({ server: { url: "http://127.0.0.1:9/mcp" } })).toMatchObject({
      ok: false,
      error_kind: "connection",
    });
    expect(await attempt({ server: stdio("crash-at-start") })).toMatchObject({
      ok: false,
      error_kind: "connection",
    });
    expect(await attempt({ server: stdio("hang"), timeout: 0.5 })).toMatchObject({
      ok: false,
      error_kind: "timeout",
    });
    expect((await server.call("POST", "/api/mcp/test", { server: {} })).status).toBe(422);
    expect((await server.call("POST", "/api/mcp/test", { server: {}, timeout: 0 })).status).toBe(422);
  }
  await leaks.assertNone();
});
