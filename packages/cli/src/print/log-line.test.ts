import { expect, test } from "vitest";
import { describeLogLine } from "./log-line.ts";

const line = JSON.stringify({ level: 40, time: 0, path: "/a", msg: "slow\u001b[2J" });

test("a line of the log is shown with its time, level and fields, and drives no terminal", () => {
  expect(describeLogLine(line, "info", false)).toBe('1970-01-01T00:00:00.000Z  warn   slow path="/a"');
  expect(describeLogLine(line, "error", false)).toBeNull();
});

test("other lines are shown to people alone; JSON is left as it is", () => {
  expect(describeLogLine("Convoke is listening", "info", false)).toBe("Convoke is listening");
  expect(describeLogLine("Convoke is listening", "info", true)).toBeNull();
  expect(describeLogLine(line, "warn", true)).toBe(line);
  expect(describeLogLine('{"level":', "info", false)).toBe('{"level":');
});
