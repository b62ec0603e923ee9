import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("a repository as workspace", () => {
  let web: WebBrowser;
  let source = "";

  beforeAll(async () => {
    source = await mkdtemp(path.join(tmpdir(), "convoke-repository-"));
    await writeFile(path.join(source, "note.txt"), "fetched\n");
    const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    for (const git of [
      ["init", "--quiet"],
      ["add", "."],
      [...identity, "commit", "--quiet", "-m", "a note"],
    ])
      execFileSync("git", git, { cwd: source });
    web = await WebBrowser.open(
      about(
        "Read the note",
        { tool_calls: [terminal("cat note.txt && pwd", "read")] },
        finish("It is read."),
      ),
    );
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(source, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test.each(everySecond(devices, 1))(
    "J3: a git address is cloned into a new folder, where the agent works, %s",
    async (_, size) => {
      const page = await web.logIn(size);
      await begin(page, `file://${source}`, "Read the note");
      await page.getByText("It is read.").waitFor();
      await expectStatus(page, "done");
      await page.goto(web.url);
      const folder = await page.getByRole("textbox", { name: "Folder" }).inputValue();
      expect(path.basename(folder)).toMatch(new RegExp(`^${path.basename(source)}(-2)?$`));
      expect(await readFile(path.join(folder, "note.txt"), "utf8")).toBe("fetched\n");
      await page.context().close();
    },
  );

  test("J3: a failed fetch is reported in git's words, and the entered text stays", async () => {
    const page = await web.logIn(phone);
    await begin(page, `file://${source}-not-there`, "Read the note");
    await page.getByRole("alert").getByText("does not appear to be a git repository").waitFor();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Read the note");
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);

    await begin(page, "https://someone:secret@example.org/project.git", "Read the note");
    await page.getByRole("alert").getByText("Remove the password").waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("secret");
    await page.context().close();
  });

  test("J3: a fetch that gets no answer can be cancelled, and git ends with it", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const page = await web.logIn();
    const asked = once(silent, "connection");
    await begin(page, `http://127.0.0.1:${port}/project.git`, "Read the note");
    await page.getByRole("status").getByText("Cloning the repository").waitFor();
    const [socket] = (await asked) as [import("node:net").Socket];
    const gone = once(socket.resume(), "close");
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("alert").getByText("Cloning was cancelled").waitFor();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Read the note");
    await gone;
    silent.close();
    await page.context().close();
  });
});

async function begin(page: Page, folder: string, message: string): Promise<void> {
  await page.getByRole("textbox", { name: "Folder" }).fill(folder);
  await page.getByRole("textbox", { name: "Message" }).fill(message);
  await page.getByRole("button", { name: "Send" }).click();
}
