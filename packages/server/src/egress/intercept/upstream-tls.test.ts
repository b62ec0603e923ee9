import { createServer } from "node:https";
import { expect, test } from "vitest";
import { openEgressWorld } from "../testing/egress-world.ts";
import { createUpstreamTrust } from "./upstream-tls.ts";

test("an authority that neither Node nor the system knows is not trusted", async () => {
  const trust = createUpstreamTrust();
  await using world = await openEgressWorld({
    policy: { read_only: ["files.example.com"] },
    upstreamTrust: () => trust,
  });
  await world.place("files.example.com", 443, createServer(world.leaf("files.example.com")));
  const { status, body } = await world.get("https://files.example.com/");
  expect(status).toBe(502);
  expect(body).toMatch(
    /^files\.example\.com:443 could not be reached: Its TLS failed \(.*certificate.*\)\.\n$/,
  );
});
