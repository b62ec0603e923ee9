import { ProtocolError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { listTools, type ListingClient } from "./list-tools.ts";

type Page = { readonly tools: readonly string[]; readonly nextCursor?: unknown };

/** Answers with a page for each cursor, and notes what it was asked for. */
function serverOf(pages: Readonly<Record<string, Page>>) {
  const asked: string[] = [];
  const request = async ({ params }: { params: { cursor?: string } }): Promise<unknown> => {
    const cursor = "cursor" in params ? `<${params.cursor}>` : "first";
    asked.push(cursor);
    const page = pages[cursor];
    if (page === undefined) throw new ProtocolError(-32602, "Invalid cursor");
    return { ...page, tools: page.tools.map((name) => ({ name, inputSchema: { type: "object" } })) };
  };
  return { asked, client: { request } as unknown as ListingClient };
}

const signal = new AbortController().signal;

test("K17: an empty cursor is a cursor", async () => {
  const { client, asked } = serverOf({
    first: { tools: ["a"], nextCursor: "" },
    "<>": { tools: ["b"], nextCursor: "x" },
    "<x>": { tools: ["c"] },
  });
  expect((await listTools(client, signal)).tools.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(asked).toEqual(["first", "<>", "<x>"]);
});

test.each([
  ["that always comes", { first: { tools: ["a"], nextCursor: "" }, "<>": { tools: ["a"], nextCursor: "" } }],
  ["that the server refuses", { first: { tools: ["a"], nextCursor: "" } }],
])("K17: an empty cursor %s ends the list", async (_, pages) => {
  const { client, asked } = serverOf(pages);
  expect((await listTools(client, signal)).tools.map(({ name }) => name)).toEqual(["a"]);
  expect(asked).toEqual(["first", "<>"]);
});

test("K17: cursors that go in a circle end the list, one that is refused does not pass for the end", async () => {
  const circle = serverOf({
    first: { tools: ["a"], nextCursor: "x" },
    "<x>": { tools: ["b"], nextCursor: "y" },
    "<y>": { tools: ["c"], nextCursor: "x" },
  });
  expect((await listTools(circle.client, signal)).tools.length).toBe(3);
  expect(circle.asked).toEqual(["first", "<x>", "<y>"]);
  const refused = serverOf({ first: { tools: ["a"], nextCursor: "x" } });
  await expect(listTools(refused.client, signal)).rejects.toThrow("Invalid cursor");
});

test("F5: a list of more than 500 tools is cut, and says so", async () => {
  const tools = Array.from({ length: 501 }, (_, index) => `tool ${index}`);
  const whole = await listTools(serverOf({ first: { tools: tools.slice(1) } }).client, signal);
  expect([whole.tools.length, whole.omitted]).toEqual([500, null]);
  const cut = await listTools(serverOf({ first: { tools } }).client, signal);
  expect(cut.tools.length).toBe(500);
  expect(cut.omitted).toBe("It lists more than 500 tools; those after the first 500 are left out.");
});

test("F5: tools that cannot be read are left out, and named", async () => {
  const large = { name: "large", description: "x".repeat(2 * 1024 * 1024) };
  const request = async () => ({ tools: [{ name: "a" }, large, { name: "" }, null, { name: 1 }] });
  const listed = await listTools({ request }, signal);
  expect(listed.tools).toEqual([{ name: "a" }]);
  expect(listed.omitted).toBe("These have no name or are too large: large, a tool without a name.");
});

test("F5: a list of more than 100 pages is cut, and says so", async () => {
  const pageAt = (number: number): Page => ({ tools: [`tool ${number}`], nextCursor: String(number + 1) });
  const pages = Object.fromEntries(
    Array.from({ length: 150 }, (_, number) => [number === 0 ? "first" : `<${number}>`, pageAt(number)]),
  );
  const cut = await listTools(serverOf(pages).client, signal);
  expect(cut.tools.length).toBe(100);
  expect(cut.omitted).toBe("Its list has more than 100 pages; tools after those are left out.");
});
