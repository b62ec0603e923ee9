import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import { connect, createServer as createTlsServer } from "node:tls";
import { expect, test } from "vitest";
import { openWithSecret, placeHost, token } from "./testing/placed-host.ts";

test("a placeholder in any header becomes the value, and the audit has the secret's name only", async () => {
  await using world = await openWithSecret();
  const seen = await placeHost(world, "api.example.com");
  const answer = await world.get("https://api.example.com/v1?q=1", {
    headers: { Authorization: `Bearer ${token.placeholder}`, "X-Two": ["a", `${token.placeholder}!`] },
  });
  expect(answer).toMatchObject({ status: 200, body: "hello" });
  expect(seen[0]!.headers).toMatchObject({
    host: "api.example.com",
    authorization: `Bearer ${token.value}`,
    "x-two": `a, ${token.value}!`,
  });
  await expect
    .poll(() => world.records)
    .toMatchObject([{ kind: "request", path: "/v1", status: 200, secrets: ["TOKEN"] }]);
  expect(JSON.stringify(world.records)).not.toContain(token.value);
});

test("a placeholder in HTTP Basic becomes the value, as name or password", async () => {
  await using world = await openWithSecret();
  const seen = await placeHost(world, "api.example.com");
  for (const login of [`x:${token.placeholder}`, `${token.placeholder}:`]) {
    await world.get("https://api.example.com/", { headers: { Authorization: `Basic ${btoa(login)}` } });
  }
  expect(seen.map(({ headers }) => atob(headers.authorization!.slice(6)))).toEqual([
    `x:${token.value}`,
    `${token.value}:`,
  ]);
});

test.each([
  ["header", { "X-A": token.placeholder }],
  ["basic", { Authorization: `Basic ${btoa(`x:${token.placeholder}`)}` }],
] as const)("a secret that is not for a %s stays a placeholder there", async (place, headers) => {
  await using world = await openWithSecret({ as: token.as.filter((other) => other !== place) });
  const seen = await placeHost(world, "api.example.com");
  await world.get("https://api.example.com/", { headers });
  expect(seen[0]!.headers).toMatchObject(
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );
});

test("query and body are changed when asked, as their form has it", async () => {
  await using world = await openWithSecret({ as: ["query", "body"] });
  const seen = await placeHost(world, "api.example.com");
  const send = async (type: string, body: string) =>
    world.get(`https://api.example.com/a/${token.placeholder}?key=${token.placeholder}&x=1`, {
      method: "POST",
      headers: { "Content-Type": type },
      body,
    });
  await send("application/json", JSON.stringify({ key: token.placeholder }));
  await send("application/x-www-form-urlencoded", `key=${token.placeholder}`);
  await send("text/plain", `key ${token.placeholder}`);
  const query = `/a/${token.placeholder}?key=${encodeURIComponent(token.value)}&x=1`;
  expect(seen.map(({ url }) => url)).toEqual([query, query, query]);
  expect(seen.map(({ body }) => body)).toEqual([
    JSON.stringify({ key: token.value }),
    `key=${encodeURIComponent(token.value)}`,
    `key ${token.value}`,
  ]);
});

test("bodies that are no text, compressed or larger than 1 MiB pass unchanged", async () => {
  await using world = await openWithSecret({ as: ["body"] });
  const seen = await placeHost(world, "api.example.com");
  const large = token.placeholder.padEnd(1024 * 1024 + 1, ".");
  const text = { "Content-Type": "text/plain" };
  const small = token.placeholder;
  const post = { method: "POST" };
  await world.get("https://api.example.com/", { ...post, body: large, headers: text });
  await world.get("https://api.example.com/", {
    ...post,
    body: large,
    headers: { ...text, "Transfer-Encoding": "chunked" },
  });
  await world.get("https://api.example.com/", {
    ...post,
    body: small,
    headers: { ...text, "Content-Encoding": "x" },
  });
  await world.get("https://api.example.com/", { ...post, body: small });
  expect(seen.map(({ body }) => body)).toEqual([large, large, small, small]);
});

test("to another host, over plain HTTP and through a tunnel a placeholder stays one", async () => {
  await using world = await openWithSecret();
  const headers = { Authorization: `Bearer ${token.placeholder}` };
  const seen: IncomingMessage[] = [];
  const plain = createHttpServer((incoming, response) => (seen.push(incoming), response.end()));
  await world.place("api.example.com", 80, plain);
  await world.place("api.example.com", 8080, plain);
  await world.send("http://api.example.com/", { headers });
  const { socket } = await world.connect("api.example.com:80");
  const asked = request({
    createConnection: () => socket,
    path: "/",
    headers: { ...headers, host: "api.example.com" },
  }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  await answer.resume().toArray();
  expect(seen.map((incoming) => incoming.headers.authorization)).toEqual([
    headers.Authorization,
    headers.Authorization,
  ]);
  // Not bound there: copied, so that the client meets the host's own certificate.
  const other = createTlsServer(world.leaf("other.example.com"));
  await world.place("other.example.com", 443, other);
  await expect(world.secure("other.example.com:443")).rejects.toThrow(/self-signed|unable to verify|issuer/);
});

test("a forged Host and SNI do not change where a secret goes", async () => {
  await using world = await openWithSecret();
  const seen = await placeHost(world, "api.example.com");
  await world.get("https://api.example.com/", {
    headers: { host: "evil.example", "X-A": token.placeholder },
  });
  expect(seen[0]!.headers).toMatchObject({ host: "api.example.com", "x-a": token.value });
  expect(world.resolved).toEqual(["api.example.com"]);
  const { socket } = await world.connect("api.example.com:443");
  const tls = connect({ socket, servername: "evil.example", ca: world.egress.certificate });
  const [error] = (await once(tls, "error")) as [Error];
  expect(error.message).toContain("does not match certificate's altnames");
});

test("a secret that no header can carry is refused in words, without its value", async () => {
  await using world = await openWithSecret({ value: "two\nlines" });
  await placeHost(world, "api.example.com");
  const { status, body } = await world.get("https://api.example.com/", {
    headers: { "X-A": token.placeholder },
  });
  expect({ status, body }).toEqual({
    status: 403,
    body: "api.example.com:443 was refused: With its secret, the header X-A has the control character U+000A at position 4, which no header can carry.\n",
  });
});
