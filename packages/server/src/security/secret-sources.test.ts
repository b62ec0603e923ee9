import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { resolveSecrets } from "./secret-sources.ts";

/** What looking up one address came to. */
async function resolveHost(listener: RequestListener): Promise<{ values: string[]; failures: string[] }> {
  await using server = await listen(listener);
  const failures: string[] = [];
  const sources = {
    TOKEN: { kind: "LookupSecret" as const, url: server.url, headers: { "x-vault-token": "hidden" } },
  };
  const found = await resolveSecrets(sources, new AbortController().signal, (name, reason) =>
    failures.push(`${name}: ${reason}`),
  );
  return { values: found.map(({ value }) => value), failures };
}

async function listen(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

test("a secret is what the address answers, without surrounding space", async () => {
  expect(await resolveHost((_, reply) => reply.end(" value\n"))).toEqual({ values: ["value"], failures: [] });
});

test("security 6: an endless answer is read to 64 KiB, and the connection ends", async () => {
  let sent = 0;
  const end = Promise.withResolvers<void>();
  const outcome = await resolveHost((_, reply) => {
    const more = (): void => {
      while (!reply.destroyed) {
        sent += 65_536;
        if (!reply.write(Buffer.alloc(65_536, "x"))) return;
      }
    };
    reply.on("drain", more);
    reply.on("close", () => end.resolve());
    more();
  });
  expect(outcome).toEqual({
    values: [],
    failures: ["TOKEN: the lookup answered more than 64 KiB, which is no secret"],
  });
  await end.promise;
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test("security 10: a redirect is not followed, so that headers reach no other address", async () => {
  let strangersRequests = 0;
  await using stranger = await listen((_, reply) => {
    strangersRequests += 1;
    reply.end("taken");
  });
  const outcome = await resolveHost((_, reply) => {
    reply.writeHead(302, { location: stranger.url });
    reply.end();
  });
  expect(outcome).toEqual({
    values: [],
    failures: ["TOKEN: the lookup answered 302; redirects are not followed, name the address itself"],
  });
  expect(strangersRequests).toBe(0);
});
