import { expect, test } from "vitest";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { observe, type Answer } from "./observe-browser.ts";

async function textsOf(answer: Answer, notes: readonly string[] = []): Promise<string[]> {
  await using directory = await openTemporaryDirectory();
  const { content = [] } = await observe(answer, notes, directory.path);
  return content.map((part) => ("text" in part ? part.text.replaceAll(directory.path, "DIR") : ""));
}

const picture = Buffer.from("picture");
const file = expect.stringMatching(/^DIR\/browser_screenshot_[0-9a-f]{8}\.png$/) as string;

test("F8: a state stays JSON, with notes as fields of their own", async () => {
  const state: Answer = { text: '{\n  "url": "x"\n}', form: "state" };
  const parse = async (...given: Parameters<typeof textsOf>): Promise<unknown> => {
    const texts = await textsOf(...given);
    expect(texts).toHaveLength(1);
    return JSON.parse(texts[0]!) as unknown;
  };
  expect(await parse(state)).toEqual({ url: "x" });
  expect(await parse({ ...state, picture })).toEqual({ url: "x", screenshot_file: file });
  expect(await parse(state, ['A dialog "hi"'])).toEqual({ url: "x", notes: ['A dialog "hi"'] });
  expect(await parse({ ...state, picture }, ["a", "b"])).toEqual({
    url: "x",
    notes: ["a", "b"],
    screenshot_file: file,
  });
});

test("F8: other data has notes in a separate part, plain text has them at its end", async () => {
  expect(await textsOf({ text: "[]", form: "data" })).toEqual(["[]"]);
  expect(await textsOf({ text: "[]", form: "data" }, ["a", "b"])).toEqual(["[]", "a\n\nb"]);
  expect(await textsOf({ text: "Done." }, ["a", "b"])).toEqual(["Done.\n\na\n\nb"]);
  expect(await textsOf({ text: "x".repeat(60_000) }, ["the note"])).toEqual([
    expect.stringMatching(/the note$/) as string,
  ]);
});
