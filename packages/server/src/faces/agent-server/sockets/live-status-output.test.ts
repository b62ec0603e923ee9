import { expect, test } from "vitest";
import { until } from "../../../testing/until.ts";
import { StandingOutput } from "./live-status-output.ts";

function open() {
  const sent: string[] = [];
  const watch = { frame: "one", reads: 0 };
  const output = { isBehind: false, offer: (json: string) => void sent.push(json) };
  const standing = new StandingOutput(
    {
      standingFrame: async () => {
        watch.reads += 1;
        if (watch.frame === "broken") throw new Error("It cannot be read.");
        return watch.frame;
      },
    },
    output,
  );
  return { sent, watch, output, standing };
}

test("P10: a client that is behind gets the newest state once it takes it, and nothing twice", async () => {
  const { sent, watch, output, standing } = open();
  using _standing = standing;
  await standing.tell();
  await standing.tell();
  expect(sent).toEqual(["one"]);
  output.isBehind = true;
  for (const frame of ["two", "three"]) {
    watch.frame = frame;
    await standing.tell();
  }
  expect(sent).toEqual(["one"]);
  output.isBehind = false;
  await until(() => sent.length === 2);
  expect(sent).toEqual(["one", "three"]);
});

test("P10: a client that falls behind while its state is read was not told", async () => {
  const { sent, output, standing } = open();
  using _standing = standing;
  const told = standing.tell();
  output.isBehind = true;
  await told;
  output.isBehind = false;
  await until(() => sent.length === 1);
});

test("a state that could not be read is told with the next change, and nothing goes on behind the end", async () => {
  const { sent, watch, output, standing } = open();
  watch.frame = "broken";
  await expect(standing.tell()).rejects.toThrow("cannot be read");
  watch.frame = "two";
  await standing.tell();
  expect(sent).toEqual(["two"]);
  output.isBehind = true;
  await standing.tell();
  const { reads } = watch;
  standing[Symbol.dispose]();
  output.isBehind = false;
  await standing.tell();
  expect(watch.reads).toBe(reads);
});
