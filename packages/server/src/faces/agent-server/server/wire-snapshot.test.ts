import { expect, test } from "vitest";
import { goldenScript } from "../../../testing/golden/golden-script.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

/** What clients get that know the contract; an answer with a field more, or one less, is a change of the wire. */
test("P57: the fields of answers, events and frames are those of the snapshot", async () => {
  await using server = await startTestServer({ script: goldenScript });
  const get = async (path: string): Promise<unknown> => (await server.call("GET", path)).json;
  const id = await server.runTo("finished", "Look around.");
  const events = await server.events(id);
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.until((frames) => frames.length > events.length);
  const shapes = {
    "GET /server_info": shapeOf(await get("/server_info")),
    "GET /api/tools/": shapeOf(await get("/api/tools/")),
    "GET /api/conversations/search": shapeOf(await get("/api/conversations/search")),
    "GET /api/conversations/{conversation_id}": shapeOf(await get(`/api/conversations/${id}`)),
    "GET .../events/search": shapeOf({
      ...((await get(`/api/conversations/${id}/events/search`)) as object),
      items: [],
    }),
    "GET /api/settings": shapeOf(await get("/api/settings")),
    "GET /nowhere": shapeOf(await get("/nowhere")),
    "422": shapeOf(await get("/api/conversations/search?limit=0")),
    events: byKind(events),
    frames: byKind(socket.frames.map((frame) => JSON.parse(frame) as object)),
  };
  await expect(`${JSON.stringify(shapes, null, 1)}\n`).toMatchFileSnapshot("./wire-snapshot.generated.json");
});

type Shape = string | { readonly [field: string]: Shape } | readonly Shape[];

/** Names of fields and types of values; a list is the one shape that all its items fit. */
function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(merge)];
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const fields = Object.entries(value).map(([name, field]) => [name, shapeOf(field)] as const);
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function merge(one: Shape, other: Shape): Shape {
  if (typeof one === "string" || typeof other === "string") {
    if (JSON.stringify(one) === JSON.stringify(other)) return one;
    return [...new Set([one, other].map((shape) => (typeof shape === "string" ? shape : "object")))]
      .toSorted()
      .join(" | ");
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    const items = [...(one as readonly Shape[]), ...(other as readonly Shape[])];
    return items.length === 0 ? [] : [items.reduce(merge)];
  }
  const [left, right] = [one, other] as { readonly [field: string]: Shape }[];
  const names = [...new Set([...Object.keys(left!), ...Object.keys(right!)])].toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const [a, b] = [left![name], right![name]];
      return [name, a === undefined || b === undefined ? (a ?? b)! : merge(a, b)];
    }),
  );
}

function byKind(items: readonly object[]): Shape {
  const kinds = new Map<string, Shape>();
  for (const item of items) {
    const { kind = "", key = "" } = item as { readonly kind?: string; readonly key?: string };
    const name = key === "" ? kind : `${kind} ${key}`;
    const shape = shapeOf(item);
    const known = kinds.get(name);
    kinds.set(name, known === undefined ? shape : merge(known, shape));
  }
  return Object.fromEntries([...kinds].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
