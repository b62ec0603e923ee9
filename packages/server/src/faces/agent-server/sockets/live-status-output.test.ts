import { expect, test } from "vitest";
import { until } from "../../../testing/until.ts";
import { LiveStatusOutput } from "./live-status-output.ts";

function open() {
  const sent: string[] = [];
  const watch = { frame: "one", reads: 0 };
  const output = { isBehind: false, offer: (json: string) => void sent.push(json) };
  const liveStatus = new LiveStatusOutput(
    {
      liveStatusFrame: async () => {
        watch.reads += 1;
        if (watch.frame === "broken") throw new Error("It cannot be read.");
        return watch.frame;
      },
    },
    output,
  );
  return { sent, watch, output, liveStatus };
}

test("P10: a slow client gets the newest state once it reads again, and nothing twice", async () => {
  const { sent, watch, output, liveStatus } = open();
  using _output = liveStatus;
  await liveStatus.publish();
  await liveStatus.publish();
  expect(sent).toEqual(["one"]);
  output.isBehind = true;
  for (const frame of ["two", "three"]) {
    watch.frame = frame;
    await liveStatus.publish();
  }
  expect(sent).toEqual(["one"]);
  output.isBehind = false;
  await until(() => sent.length === 2);
  expect(sent).toEqual(["one", "three"]);
});

test("P10: a state is not counted as sent when the client fell behind while it was read", async () => {
  const { sent, output, liveStatus } = open();
  using _output = liveStatus;
  const published = liveStatus.publish();
  output.isBehind = true;
  await published;
  output.isBehind = false;
  await until(() => sent.length === 1);
});

test("a state that could not be read is sent with the next change, and nothing is sent after the end", async () => {
  const { sent, watch, output, liveStatus } = open();
  watch.frame = "broken";
  await expect(liveStatus.publish()).rejects.toThrow("cannot be read");
  watch.frame = "two";
  await liveStatus.publish();
  expect(sent).toEqual(["two"]);
  output.isBehind = true;
  await liveStatus.publish();
  const { reads } = watch;
  liveStatus[Symbol.dispose]();
  output.isBehind = false;
  await liveStatus.publish();
  expect(watch.reads).toBe(reads);
});
