import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

const write = (more: object) => ({ tool_calls: [{ name: "planning_file_editor", arguments: more }] });

describe.skipIf(noBrowser !== null)("a plan in the page", () => {
  let web: WebBrowser;
  let work = "";

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-plan-"));
    const file = path.join(work, ".agents_tmp/PLAN.md");
    const sketch = path.join(work, "sketch/.agents_tmp/PLAN.md");
    const text = "# Steps\n\n1. Write a file.\n2. Test it.\n";
    web = await WebBrowser.open([
      ...about(
        "Leave the tests",
        write({ command: "str_replace", path: file, old_str: "2. Test it.", new_str: "" }),
      ),
      ...about("Leave the tests", finish("The tests are left.")),
      ...about(
        "Plan it",
        write({ command: "create", path: file, file_text: text }),
        finish("It is planned."),
      ),
      ...about(
        "Sketch",
        write({ command: "create", path: sketch, file_text: text }),
        finish("It is sketched."),
      ),
      ...about(
        "The plan is approved",
        { tool_calls: [terminal(`echo done > ${path.join(work, "built.txt")}`, "build")] },
        finish("It is built."),
      ),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("F26: a conversation plans first, its plan is read, edited and approved, and then carried out", async () => {
    const page = await web.logIn();
    await page.getByRole("textbox", { name: "Folder" }).fill(work);
    await page.getByRole("checkbox", { name: "Plan first" }).check();
    await page.getByRole("textbox", { name: "Message" }).fill("Plan it");
    await page.keyboard.press("Enter");
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.getByRole("heading", { name: "Steps" }).waitFor();
    await plan.getByText("Test it.").waitFor();
    await page.locator("main header").getByText("planning", { exact: true }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "plan");

    await plan.getByRole("button", { name: "Request changes" }).click();
    await plan.getByRole("textbox").fill("Leave the tests");
    await page.keyboard.press("Enter");
    await page.getByText("The tests are left.").waitFor();
    await plan.getByText("Write a file.").waitFor();
    await expect.poll(() => plan.getByText("Test it.").count()).toBe(0);

    await plan.getByRole("button", { name: "Approve and start" }).click();
    await page.getByText("It is built.").waitFor();
    await expectStatus(page, "done");
    await expect.poll(() => plan.count()).toBe(0);
    await expect
      .poll(() => page.locator("main header").getByText("planning", { exact: true }).count())
      .toBe(0);
    expect(await readFile(path.join(work, "built.txt"), "utf8")).toBe("done\n");
    await page.context().close();
  });

  test("F26: on a phone in the dark the plan fits, and its buttons are large enough", async () => {
    const id = await web.converse("Sketch", {
      agent_type: "plan",
      workspace: { kind: "LocalWorkspace", working_dir: path.join(work, "sketch") },
    });
    const page = await web.logInAt(`/c/${id}`, { ...phone, colorScheme: "dark" });
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.getByText("Write a file.").waitFor();
    expect(await sidewaysOf(page)).toBe(0);
    const box = await plan.getByRole("button", { name: "Approve and start" }).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  });
});
