import { expect, test } from "vitest";
import { complete } from "./complete.ts";
import { describeCommands } from "./describe-commands.ts";
import { readCompletionTable } from "./read-completion-table.ts";

const table = readCompletionTable();
const conversations = async () => [{ value: "0198c0de", description: "Repair" }];

async function valuesOf(...words: string[]): Promise<readonly string[]> {
  return (await complete(words, table, conversations)).map(({ value }) => value);
}

test("the table is that of the commands", async () => {
  const how = "Run npx node packages/cli/scripts/write-reference.ts.";
  expect(table, how).toEqual(JSON.parse(JSON.stringify(await describeCommands())));
});

test("commands, commands below them, flags that are not there yet, and values of flags", async () => {
  expect(await valuesOf("re")).toEqual(
    ["rename", "resume", "reject", "restore", "replay", "retention"].sort((a, b) => indexOf(a) - indexOf(b)),
  );
  expect(await valuesOf("keys", "set")).toEqual(["set-role", "set-policy"]);
  expect(await valuesOf("ls", "--all", "--a")).toEqual([]);
  expect(await valuesOf("ls", "--st")).toEqual(["--status"]);
  expect(await valuesOf("ls", "--status", "f")).toEqual(["finished"]);
  expect(await valuesOf("completion", "")).toEqual(["bash", "zsh", "fish"]);
});

test("ids where an id stands, settings where a key does, nothing where a text or a file does", async () => {
  expect(await valuesOf("show", "")).toEqual(["0198c0de", "@last"]);
  expect(await valuesOf("rm", "0198c0de", "--yes", "@")).toEqual(["@last"]);
  expect(await valuesOf("config", "get", "wall_c")).toEqual(["wall_cpus"]);
  expect(await valuesOf("send", "0198c0de", "")).toEqual([]);
  expect(await valuesOf("run", "--file", "")).toEqual([]);
});

function indexOf(name: string): number {
  return Object.keys(table.commands).indexOf(name);
}
