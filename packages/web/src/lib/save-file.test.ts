import { expect, test } from "vitest";
import { nameOf } from "./save-file.ts";

test("a file has the name that the server gives it, whatever letters it has", () => {
  expect(nameOf(`attachment; filename="a_.txt"; filename*=UTF-8''a%20%C3%A4.txt`)).toBe("a ä.txt");
  expect(nameOf("attachment")).toBeNull();
  expect(nameOf(null)).toBeNull();
});
