import { expect, test } from "vitest";
import { expandSecrets, expandServer, hasVariables } from "./expand-variables.ts";
import type { McpServer } from "./mcp-server.ts";
import { readServers } from "./read-servers.ts";

const server = (text: string) => ({ name: "s", transport: "stdio", args: [text] }) as unknown as McpServer;
const values = new Map([["A", "value"]]);

test.each([
  ["${A} $A ${A:-other}", "value value value"],
  ["${B:-a $5 tip}", "${B:-a $5 tip}"],
  ["${B} $B ${}", "${B} $B ${}"],
])("a secret is put in for %s", (text, expected) => {
  expect(expandSecrets(text, values)).toBe(expected);
});

test("a default counts where there is no value", () => {
  expect(expandServer(server("${B:-a $5 tip} ${A:-x}"), values)).toMatchObject({ args: ["a $5 tip value"] });
});

test("hardening, kin of 4: references that begin and never end are read in linear time, whoever wrote them", () => {
  const before = process.threadCpuUsage();
  for (const part of ["${a:-", "${a", "${", "$a", "${a:-$"]) {
    const text = part.repeat(Math.floor(2_000_000 / part.length));
    expandSecrets(text, values);
    expandServer(server(text), values);
    hasVariables(server(text));
    readServers({ mcpServers: { s: { url: `http://h/${text}` } } }, []);
  }
  // The first of them would take an hour.
  expect(process.threadCpuUsage(before).user).toBeLessThan(4_000_000);
});
