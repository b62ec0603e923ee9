import { expect, test } from "vitest";
import { placeOf, Pointing } from "./pointing.ts";

const frame = { box: { left: 100, top: 50, width: 640, height: 360 }, width: 1280, height: 720 };

function event(type: string, clientX: number, clientY: number, timeStamp: number, pointerType = "mouse") {
  return { type, clientX, clientY, timeStamp, pointerType, button: 0 };
}

test("places are those of the page, and never outside of it", () => {
  expect(placeOf({ clientX: 100, clientY: 50 }, frame)).toEqual({ x: 0, y: 0 });
  expect(placeOf({ clientX: 420, clientY: 230 }, frame)).toEqual({ x: 640, y: 360 });
  expect(placeOf({ clientX: 0, clientY: 9_000 }, frame)).toEqual({ x: 0, y: 719 });
});

test("a mouse presses, moves at most twenty times a second, and counts the presses of a double click", () => {
  const pointing = new Pointing();
  const down = (at: number, x = 110) => pointing.inputs(event("pointerdown", x, 60, at), frame);
  expect(down(1_000)).toEqual([{ type: "mouse", event: "down", x: 20, y: 20, button: "left", clicks: 1 }]);
  expect(pointing.inputs(event("pointermove", 120, 60, 1_010), frame)).toHaveLength(1);
  expect(pointing.inputs(event("pointermove", 130, 60, 1_020), frame)).toEqual([]);
  expect(pointing.inputs(event("pointermove", 140, 60, 1_070), frame)).toHaveLength(1);
  expect(down(1_200)).toMatchObject([{ clicks: 2 }]);
  expect(pointing.inputs(event("pointerup", 110, 60, 1_210), frame)).toMatchObject([
    { event: "up", clicks: 2 },
  ]);
  expect(down(1_300, 300)).toMatchObject([{ clicks: 1 }]);
  expect(down(9_000, 300)).toMatchObject([{ clicks: 1 }]);
});

test("a finger that taps clicks, one that is drawn scrolls and does not click", () => {
  const pointing = new Pointing();
  const touch = (type: string, x: number, y: number, at: number) =>
    pointing.inputs(event(type, x, y, at, "touch"), frame);
  expect(touch("pointerdown", 110, 60, 0)).toEqual([]);
  expect(touch("pointerup", 111, 60, 90)).toMatchObject([
    { type: "mouse", event: "down", x: 22 },
    { type: "mouse", event: "up" },
  ]);
  touch("pointerdown", 200, 200, 1_000);
  expect(touch("pointermove", 200, 202, 1_060)).toEqual([]);
  expect(touch("pointermove", 200, 150, 1_120)).toMatchObject([{ type: "wheel", dx: 0, dy: 100 }]);
  expect(touch("pointerup", 200, 150, 1_180)).toEqual([]);
});
