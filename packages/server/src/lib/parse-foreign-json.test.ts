import { expect, test } from "vitest";
import { parseForeignJson } from "./parse-foreign-json.ts";

test("security 4: what a model wrote is parsed unless it has more values than anybody needs", () => {
  const lists = (count: number): string => `{"x":[${"[],".repeat(count)}[]]}`;
  expect(parseForeignJson(lists(190_000))).toMatchObject({ x: { length: 190_001 } });
  expect(() => parseForeignJson(lists(300_000))).toThrow("More than 200000 values are not read.");
  expect(parseForeignJson(JSON.stringify(",[".repeat(300_000)))).toHaveLength(600_000);
  expect(() => parseForeignJson("{")).toThrow(SyntaxError);
});
