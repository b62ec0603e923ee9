import { expect, test } from "vitest";
import { routeLines } from "./route-lines.ts";

const item = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string" },
    state: { enum: ["on", "off"] },
    tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } },
  },
};
const operation = {
  parameters: [
    { name: "limit", in: "query", schema: { type: "integer" } },
    { name: "id", in: "path", required: true, schema: { type: "string" } },
  ],
  requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Item" } } } },
  responses: { "204": { description: "Done." }, "404": { description: "None." } },
};

test("routes, parameters, bodies, replies, fields and their values are lines; refusals and words are not", () => {
  const document = { paths: { "/items/{id}": { put: operation } }, components: { schemas: { Item: item } } };
  expect(routeLines(JSON.stringify(document))).toEqual([
    "PUT /items/{id}",
    "PUT /items/{id} ?limit: integer",
    "PUT /items/{id} < application/json: Item",
    "PUT /items/{id} 204",
    "Item: object",
    "Item.id: string",
    "Item.state?: any",
    'Item.state? = "on"',
    'Item.state? = "off"',
    "Item.tags?: array",
    "Item.tags?[]: string | null",
  ]);
});
