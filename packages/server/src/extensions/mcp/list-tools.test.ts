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
  expect((await listTools(client, signal)).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(asked).toEqual(["first", "<>", "<x>"]);
});

test.each([
  ["that always comes", { first: { tools: ["a"], nextCursor: "" }, "<>": { tools: ["a"], nextCursor: "" } }],
  ["that the server refuses", { first: { tools: ["a"], nextCursor: "" } }],
])("K17: an empty cursor %s ends the list", async (_, pages) => {
  const { client, asked } = serverOf(pages);
  expect((await listTools(client, signal)).map(({ name }) => name)).toEqual(["a"]);
  expect(asked).toEqual(["first", "<>"]);
});

test("K17: cursors that go in a circle end the list, one that is refused does not pass for the end", async () => {
  const circle = serverOf({
    first: { tools: ["a"], nextCursor: "x" },
    "<x>": { tools: ["b"], nextCursor: "y" },
    "<y>": { tools: ["c"], nextCursor: "x" },
  });
  expect((await listTools(circle.client, signal)).length).toBe(3);
  expect(circle.asked).toEqual(["first", "<x>", "<y>"]);
  const refused = serverOf({ first: { tools: ["a"], nextCursor: "x" } });
  await expect(listTools(refused.client, signal)).rejects.toThrow("Invalid cursor");
});
