import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type OpenApi, routePages } from "./route-pages.ts";

const document: OpenApi = {
  info: { title: "agent server" },
  components: {
    schemas: {
      Key: {
        description: "A key without its text.",
        required: ["id"],
        properties: {
          id: { type: "string", format: "uuid" },
          role: { enum: ["viewer", "member"], default: "member" },
          owner: { anyOf: [{ $ref: "#/components/schemas/User" }, { type: "null" }] },
        },
      },
      ErrorReply: { type: "object" },
    },
  },
  paths: {
    "/api/keys/{key_id}": {
      get: {
        tags: ["Keys of users"],
        summary: "Read one key",
        parameters: [
          { name: "key_id", in: "path", required: true, schema: { type: "string" } },
          {
            name: "limit",
            in: "query",
            description: "At most | that many.",
            schema: { type: "integer", default: 5 },
          },
        ],
        responses: {
          "200": {
            description: "The key.",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Key" } } },
          },
          "404": {
            description: "None.",
            content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorReply" } } },
          },
        },
      },
    },
  },
};

test("a tag becomes a page of its routes and of the types that they name", () => {
  expect(routePages(document)).toEqual([
    {
      name: "keys-of-users",
      title: "Keys of users",
      markdown: `# Keys of users

Routes of the agent server, as in its OpenAPI document. They need a [key](../../guides/keys.md), but for health and logins.

## Read one key

\`GET /api/keys/{key_id}\`

| Parameter | In | Type | Meaning |
| --- | --- | --- | --- |
| \`key_id\` (required) | path | string |  |
| \`limit\` | query | integer | At most \\| that many. Default \`5\`. |

| Reply | Meaning | Content |
| --- | --- | --- |
| 200 | The key. | [Key](#key) |
| 404 | None. | \`ErrorReply\` |

## Types

### Key

A key without its text.

| Field | Type | Meaning |
| --- | --- | --- |
| \`id\` (required) | string (uuid) |  |
| \`role\` | \`"viewer"\`, \`"member"\` | Default \`"member"\`. |
| \`owner\` | \`User\` or null |  |

`,
    },
  ]);
});

test.each(["agent-server", "app-server"])("every route of the %s is on a page", (name) => {
  const file = path.join(import.meta.dirname, `../../docs/openapi/${name}.json`);
  const openApi = JSON.parse(readFileSync(file, "utf8")) as OpenApi;
  const text = routePages(openApi)
    .map(({ markdown }) => markdown)
    .join("");
  const routes = Object.entries(openApi.paths).flatMap(([route, methods]) =>
    Object.keys(methods).map((method) => `\`${method.toUpperCase()} ${route}\``),
  );
  expect(routes.filter((route) => !text.includes(route))).toEqual([]);
});
