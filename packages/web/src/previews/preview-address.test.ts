import { expect, test } from "vitest";
import { previewAddress } from "./preview-address.ts";

const root = "http://127.0.0.1:8000/previews/abc/";

test.each([
  ["", root],
  ["/", root],
  ["/deep/page?a=b#c", `${root}deep/page?a=b#c`],
  [" deep/../page ", `${root}page`],
  ["https://evil.example/", `${root}https://evil.example/`],
  ["//evil.example/", `${root}evil.example/`],
  ["javascript:alert(1)", `${root}javascript:alert(1)`],
  ["../../api/conversations", root],
  ["..", root],
  ["%2e%2e/%2e%2e/api", root],
])("U21: the path %j of a preview never leaves it", (path, expected) => {
  expect(previewAddress(root, path)).toBe(expected);
});
