import { expect, test } from "vitest";
import { withOwnHeaders } from "./own-headers.ts";

type Sent = { readonly url: string; readonly method: string; readonly headers: Record<string, string> };

/** Answers by the address, and keeps what came. */
function createServers(answers: Readonly<Record<string, Response>>) {
  const sent: Sent[] = [];
  const send = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input);
    sent.push({
      url,
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
    });
    return answers[url] ?? new Response("ok");
  };
  return { sent, send: withOwnHeaders(send, "https://mcp.example", { "X-Api-Key": "canary" }) };
}

const to = (location: string, status: number): Response =>
  new Response(null, { status, headers: { location } });

test("O08, S18: headers of an MCP server go to its own origin, not to the one that its login names", async () => {
  const { sent, send } = createServers({});
  await send("https://mcp.example/mcp", { headers: { "user-agent": "own", authorization: "Bearer t" } });
  await send(new URL("https://login.example/.well-known/oauth"), { headers: { accept: "application/json" } });
  await send("http://mcp.example/mcp");
  expect(sent.map(({ headers }) => headers)).toEqual([
    { "user-agent": "own", authorization: "Bearer t", "x-api-key": "canary" },
    { accept: "application/json", "user-agent": "convoke" },
    { "user-agent": "convoke" },
  ]);
});

test("O01, S18: a redirect to another origin gets neither headers nor token, one within the origin both", async () => {
  const { sent, send } = createServers({
    "https://mcp.example/mcp": to("/mcp/", 307),
    "https://mcp.example/mcp/": to("https://other.example/", 302),
  });
  const reply = await send("https://mcp.example/mcp", {
    method: "POST",
    body: "{}",
    headers: { authorization: "Bearer t" },
  });
  expect(await reply.text()).toBe("ok");
  expect(sent).toEqual([
    {
      url: "https://mcp.example/mcp",
      method: "POST",
      headers: { authorization: "Bearer t", "user-agent": "convoke", "x-api-key": "canary" },
    },
    {
      url: "https://mcp.example/mcp/",
      method: "POST",
      headers: { authorization: "Bearer t", "user-agent": "convoke", "x-api-key": "canary" },
    },
    { url: "https://other.example/", method: "GET", headers: { "user-agent": "convoke" } },
  ]);
});

test("redirects end", async () => {
  const { sent, send } = createServers({ "https://mcp.example/a": to("/a", 308) });
  await expect(send("https://mcp.example/a")).rejects.toThrow("redirects without end");
  expect(sent).toHaveLength(6);
});

test("K20: a header that cannot be sent is named, without its value", async () => {
  const send = withOwnHeaders(async () => new Response("ok"), "https://mcp.example", {
    "X-Api-Key": "cana\u2019ry",
  });
  const refusal = await send("https://mcp.example/mcp").catch(String);
  expect(refusal).toContain(
    'The header "X-Api-Key" of the MCP server has the character U+2019 at position 5',
  );
  expect(refusal).not.toContain("cana");
});
