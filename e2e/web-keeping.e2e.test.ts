import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, WebBrowser } from "./web-browser.ts";
import { about, violationsOf } from "./web-page.ts";

const id = "11111111-1111-4111-8111-111111111111";

describe.skipIf(noBrowser !== null)("import, hold and trash in the page", () => {
  let web: WebBrowser;
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "convoke-keeping-"));
    web = await WebBrowser.open(about("begin", { text: "Begun." }));
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("Import of a downloaded conversation, retention with trash and hold: as a person does it in the page", async () => {
    const file = path.join(folder, `${id}.jsonl`);
    const event = {
      id: "3f0a6f6e-5a3b-4d7a-9b52-0d0f3f6c1a01",
      timestamp: "2026-01-02T03:04:05.000006",
      source: "user",
      llm_message: { role: "user", content: [{ type: "text", text: "Written elsewhere." }] },
      kind: "MessageEvent",
    };
    await writeFile(file, `${JSON.stringify(event)}\n`);
    const page = await web.logIn();
    await page.getByRole("button", { name: "Import conversations…" }).click();
    await page.getByLabel("Files").setInputFiles(file);
    await page.getByRole("button", { name: "Check only" }).click();
    await page.getByText("would be imported").waitFor();
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("imported", { exact: true }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "Open" }).click();
    await page.getByText("Written elsewhere.").waitFor();

    const menu = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name, exact: true }).click();
    };
    await menu("Hold");
    await page.getByLabel("Reason").fill("for the audit");
    await page.getByRole("button", { name: "Hold", exact: true }).click();
    await expect
      .poll(async () => JSON.stringify(await web.call("GET", "/api/holds")))
      .toContain("for the audit");
    await menu("Hold");
    await page.getByRole("button", { name: "Lift the hold" }).click();
    await expect.poll(async () => (await web.call("GET", "/api/holds"))["items"]).toEqual([]);
    await menu("Move to trash");
    await expect.poll(async () => JSON.stringify(await web.call("GET", "/api/trash"))).toContain(id);

    await page.goto(`${web.url}/archived`);
    await page.getByRole("button", { name: "Trash" }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("The trash is empty.").waitFor();
    await web.call("POST", `/api/conversations/${id}/trash`);
    await page.reload();
    await page.getByRole("button", { name: "Trash" }).click();
    await page.getByRole("button", { name: "Delete for ever" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete for ever" }).click();
    await page.getByText("The trash is empty.").waitFor();
    expect((await web.call("GET", "/api/trash"))["items"]).toEqual([]);
    await page.context().close();
  });
});
