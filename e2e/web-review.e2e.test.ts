import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, noBrowser, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, violationsOf } from "./web-page.ts";

const run = promisify(execFile);
const sum = ["export function sum(values) {", "  let total = 1;", "  return total;", "}", ""].join("\n");

describe.skipIf(noBrowser !== null)("the review of changes", () => {
  let web: WebBrowser;
  let work = "";
  const at = (name: string): string => path.join(work, name);
  const edit = (name: string, fields: object) => ({
    name: "file_editor",
    arguments: { path: at(name), security_risk: "LOW", summary: `edit ${name}`, ...fields },
  });

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-review-"));
    await mkdir(at("repo/src"), { recursive: true });
    await mkdir(at("plain"));
    const git = (...args: string[]) =>
      run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd: at("repo") });
    await git("init", "-q", "-b", "main");
    await writeFile(at("repo/src/sum.js"), sum);
    await writeFile(at("repo/old.txt"), "no longer needed\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "begin");
    web = await WebBrowser.open([
      ...about(
        "mend",
        {
          tool_calls: [
            edit("repo/src/sum.js", { command: "str_replace", old_str: "total = 1", new_str: "total = 0" }),
            edit("repo/src/sum.test.js", { command: "create", file_text: "test('sum', () => {});\n" }),
            {
              name: "terminal",
              arguments: {
                command: `cd ${at("repo")} && rm old.txt && printf '\\000\\001' > picture.bin`,
                security_risk: "LOW",
              },
            },
          ],
        },
        finish("It is mended."),
      ),
      ...about("note", { tool_calls: [edit("plain/note.txt", { command: "create", file_text: "one\n" })] }),
      ...about("Review", { text: "I read your review." }),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const begin = (text: string, folder: string): Promise<string> =>
    web.converse(text, { workspace: { kind: "LocalWorkspace", working_dir: at(folder) } });
  const openReview = async (id: string, options?: BrowserContextOptions) => {
    const page = await web.logInAt(`/c/${id}`, options);
    await expectStatus(page, "done");
    await page.getByRole("button", { name: "Changes" }).click();
    return { page, review: page.getByRole("region", { name: "Changes" }) };
  };

  test("J16, J3: comments on lines survive a reload and are sent as one message; a file is accepted, another reverted", async () => {
    const id = await begin("Please mend it", "repo");
    const { page, review } = await openReview(id);
    await review.getByRole("button", { name: "Comment on line 2, added:   let total = 0;" }).click();
    await page.keyboard.type("Say why it is 0.");
    const added = review.getByRole("region", { name: "src/sum.test.js" });
    await added.getByRole("button", { name: /Comment on line 1/ }).click();
    await page.keyboard.type("Test something.");
    await review
      .getByRole("region", { name: "picture.bin" })
      .getByText(/is not a text/)
      .waitFor();
    await review.getByRole("region", { name: "old.txt" }).getByText("deleted").waitFor();
    await takePictures(page, "review", "phone", "dark");

    await page.reload();
    await review.getByRole("textbox", { name: "Comment on line 2" }).waitFor();
    const sumFile = review.getByRole("region", { name: "src/sum.js" });
    await sumFile.getByRole("button", { name: "Accept", exact: true }).click();
    await sumFile.getByRole("button", { name: "Accepted" }).waitFor();
    await expect.poll(() => sumFile.getByText("total = 0").count()).toBe(0);

    await review.getByRole("button", { name: "Send 2 comments" }).click();
    await page.getByText("I read your review.").waitFor();
    const events = (await web.call(
      "GET",
      `/api/conversations/${id}/events/search?kind=MessageEvent&source=user&sort_order=TIMESTAMP_DESC&limit=1`,
    )) as { items: { llm_message: { content: { text: string }[] } }[] };
    const text = events.items[0]!.llm_message.content[0]!.text;
    expect(text).toContain(
      "1. `src/sum.js`, line 2:\n   ```\n     let total = 0;\n   ```\n\n   Say why it is 0.",
    );
    expect(text).toContain("2. `src/sum.test.js`, line 1:");
    await expect
      .poll(() => review.getByRole("button", { name: "Send", exact: true }).isDisabled())
      .toBe(true);

    await expectStatus(page, "done");
    await added.getByRole("button", { name: "Revert" }).click();
    await page.getByRole("dialog").getByText("will be deleted").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
    await expect.poll(() => added.count()).toBe(0);
    await expect.poll(() => existsSync(at("repo/src/sum.test.js"))).toBe(false);
    expect(await readFile(at("repo/src/sum.js"), "utf8")).toContain("total = 0");
    await page.context().close();
  });

  test("J16: without a repository the edits of the log are shown, in total and by turn", async () => {
    const id = await begin("Write a note", "plain");
    const page = await web.logInAt(`/c/${id}?panel=changes`);
    const review = page.getByRole("region", { name: "Changes" });
    const note = review.getByRole("region", { name: "note.txt" });
    await note.getByText("one").waitFor();
    const scope = review.getByRole("combobox", { name: "Compare" });
    await expect.poll(() => scope.inputValue()).toBe("edits");
    expect(await note.getByRole("button", { name: "Revert" }).count()).toBe(0);
    await scope.selectOption({ label: "Write a note" });
    await note.getByText("one").waitFor();
    await page.context().close();
  });

  test("U19: a comment is written and sent with the keyboard alone", async () => {
    const id = await begin("Please mend it", "repo");
    const { page, review } = await openReview(id);
    await review.getByRole("region", { name: "src/sum.js" }).getByText("total = 0").waitFor();
    await review.getByRole("heading", { name: "Changes" }).focus();
    await page.keyboard.press("J");
    await page.keyboard.press("J");
    for (let presses = 0; presses < 20; presses += 1) {
      const label = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
      if (label?.includes("total = 0") === true) break;
      await page.keyboard.press("j");
    }
    await page.keyboard.press("c");
    await page.keyboard.type("Why 0?");
    await page.keyboard.press("Escape");
    await page.keyboard.press("v");
    await review.getByRole("button", { name: "Accepted" }).waitFor();
    await review.getByRole("textbox", { name: "Overall comment" }).focus();
    await page.keyboard.type("Review: nearly there.");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("I read your review.").waitFor();
    await page.context().close();
  });

  test.each(everySecond(devices, 0))("U18, U20: axe finds nothing in the review %s", async (_, options) => {
    const id = await begin("Please mend it", "repo");
    const { page, review } = await openReview(id, options);
    await review.getByRole("button", { name: /Comment on line 2, added/ }).click();
    await page.keyboard.type("Why?");
    await page.waitForLoadState("networkidle");
    expect(await violationsOf(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await expect.poll(() => review.count()).toBe(0);
    await page.context().close();
  });
});
