import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { RateLimits } from "./rate-limits.ts";

const ada = { userId: "ada", keyId: "k1" };

function opened(perKey: number | null, perUser: number | null) {
  const clock = { nowMs: 1_000_000 };
  const limits = new RateLimits(() => clock.nowMs);
  limits.open({ perKey, perUser });
  return { limits, clock };
}

test("without limits nothing is counted", () => {
  const { limits } = opened(null, null);
  expect(limits.isOn).toBe(false);
  expect(limits.take(ada)).toBeNull();
});

test("a minute's requests may come at once; then one each time that one has come back", () => {
  const { limits, clock } = opened(6, null);
  for (let left = 5; left >= 0; left -= 1)
    expect(limits.take(ada)).toMatchObject({
      headers: {
        "ratelimit-limit": "6",
        "ratelimit-remaining": String(left),
        "ratelimit-reset": String((6 - left) * 10),
      },
      refusal: null,
    });
  clock.nowMs += 3_000;
  const refused = limits.take(ada)!;
  expect(refused.refusal).toMatchObject({ kind: "too-many", code: "rate_limited", retryAfterSeconds: 7 });
  expect(refused.headers["ratelimit-remaining"]).toBe("0");
  clock.nowMs += 7_000;
  expect(limits.take(ada)!.refusal).toBeNull();
  expect(limits.take(ada)!.refusal).not.toBeNull();
  clock.nowMs += 3_600_000;
  expect(limits.take(ada)!.headers["ratelimit-remaining"]).toBe("5");
  clock.nowMs -= 3_600_000;
  expect(limits.take(ada)!.headers["ratelimit-remaining"]).toBe("4");
});

test("keys count apart, their user counts them together, and a refused request counts for neither", () => {
  const { limits, clock } = opened(2, 3);
  const other = { ...ada, keyId: "k2" };
  for (const caller of [ada, ada, other]) expect(limits.take(caller)!.refusal).toBeNull();
  expect(limits.take(other)!.refusal?.message).toContain("your user may make 3 a minute");
  expect(limits.take({ userId: "bob", keyId: "k3" })!.refusal).toBeNull();
  // The user has one again after 20 seconds, the first key after 30.
  clock.nowMs += 20_000;
  expect(limits.take(ada)!.refusal).toMatchObject({ retryAfterSeconds: 10 });
  expect(limits.take(other)!.refusal).toBeNull();
});

test("a login counts as the key that it began with; configured keys count as one", () => {
  const { limits } = opened(1, null);
  expect(limits.take(ada)!.refusal).toBeNull();
  expect(limits.take({ ...ada, loginId: "l1", means: "login" })!.refusal).not.toBeNull();
  expect(limits.take({ userId: "ada", loginId: "l2", means: "login" })!.refusal).toBeNull();
  expect(limits.take({ userId: "local" })!.refusal).toBeNull();
  expect(limits.take({ userId: "local" })!.refusal).not.toBeNull();
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { rateLimits: { perKey: 4, perUser: null } } });
});
afterAll(() => server[Symbol.asyncDispose]());

test("the server refuses with 429, and neither liveness nor a stranger counts", async () => {
  const made = (await server.call("POST", "/api/keys", {})).json as { key: string };
  const asKey = { "X-Session-API-Key": made.key };
  const conversation = "0198c0de-0000-7000-8000-000000000000";
  for (const path of ["/alive", "/ready", "/health"])
    for (let time = 0; time < 6; time += 1)
      expect((await server.call("GET", path, undefined, asKey)).status).toBe(200);
  expect((await server.call("GET", "/api/keys", undefined, { "X-Session-API-Key": "wrong" })).status).toBe(
    401,
  );
  const first = await server.call("GET", "/api/keys", undefined, asKey);
  expect([
    first.status,
    first.headers.get("ratelimit-limit"),
    first.headers.get("ratelimit-remaining"),
  ]).toEqual([200, "4", "3"]);
  // A socket counts once, when it opens: by its header, and by its first frame.
  const path = `${server.url}/sockets/events/${conversation}`;
  using byHeader = new TestSocket(path, { headers: asKey });
  expect((await byHeader.closed).code).toBe(4004);
  using byFrame = new TestSocket(path);
  await byFrame.opened;
  byFrame.socket.send(JSON.stringify({ type: "auth", session_api_key: made.key }));
  expect((await byFrame.closed).code).toBe(4004);
  expect((await server.call("GET", "/api/keys", undefined, asKey)).headers.get("ratelimit-remaining")).toBe(
    "0",
  );
  const refused = await server.call("GET", "/api/keys", undefined, asKey);
  expect(refused).toMatchObject({ status: 429, json: { code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("ratelimit-remaining")).toBe("0");
  using late = new TestSocket(path);
  await late.opened;
  late.socket.send(JSON.stringify({ type: "auth", session_api_key: made.key }));
  expect((await late.closed).code).toBe(1013);
  using refusedHandshake = new TestSocket(path, { headers: asKey });
  expect(await refusedHandshake.opened).toBe(429);
});
