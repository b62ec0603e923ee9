import { expect, test } from "vitest";
import { until } from "../../../testing/until.ts";
import { SummaryOutput } from "./summary-output.ts";

test("P10, S4: a slow client gets only the newest state of each conversation, once it reads again", async () => {
  const sent: string[] = [];
  const output = { isBehind: false, offer: (json: string) => void sent.push(json) };
  using summaries = new SummaryOutput(output);
  summaries.give("a", "a1");
  output.isBehind = true;
  for (const version of [2, 3, 4]) summaries.give("a", `a${version}`);
  summaries.give("b", "b1");
  expect(sent).toEqual(["a1"]);
  output.isBehind = false;
  await until(() => sent.length === 3);
  expect(sent).toEqual(["a1", "a4", "b1"]);
});
