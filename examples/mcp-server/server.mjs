// region server
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const stock = new Map([
  ["chain", 14],
  ["bell", 0],
]);

const server = new McpServer({ name: "shop", version: "1.0.0" });
server.registerTool(
  "stock",
  {
    description: "How many pieces of an article are in the shop.",
    inputSchema: z.object({ article: z.string().describe("Name of the article, such as chain.") }),
  },
  async ({ article }) => {
    const count = stock.get(article);
    const text = count === undefined ? `There is no article ${article}.` : `${count} pieces of ${article}.`;
    return { content: [{ type: "text", text }], isError: count === undefined };
  },
);
await server.connect(new StdioServerTransport());
// endregion server
