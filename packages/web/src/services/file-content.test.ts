import { expect, test } from "vitest";
import { pictureType, textOf } from "./file-content.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("J17: a text is shown as far as it was read, without half a letter at its end", () => {
  expect(textOf(bytes("añ"), 3)).toEqual({ type: "text", text: "añ", isCut: false });
  expect(textOf(bytes("añ").subarray(0, 2), 3)).toEqual({ type: "text", text: "a", isCut: true });
  expect(textOf(new Uint8Array([97, 0, 98]), 3)).toEqual({ type: "binary" });
  expect(textOf(new Uint8Array([0xe4, 0xf6]), 2)).toEqual({ type: "binary" });
});

test("J29: a picture is what browsers draw without running anything", () => {
  expect(pictureType("a/b.PNG", 10)).toBe("image/png");
  expect(pictureType("a.svg", 10)).toBeNull();
  expect(pictureType("png", 10)).toBe("image/png");
  expect(pictureType("a.jpg", 1e9)).toBeNull();
});
