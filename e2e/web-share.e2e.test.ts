import { readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

type Share = { readonly id: string; readonly url: string };
type Events = {
  readonly items: readonly {
    readonly id: string;
    readonly llm_message?: { readonly content: readonly { readonly text?: string }[] };
  }[];
};

describe.skipIf(noBrowser !== null)("a visitor with a share link", () => {
  let web: WebBrowser;
  let id = "";

  beforeAll(async () => {
    web = await WebBrowser.open([
      ...about("begin", { tool_calls: [terminal("echo one", "Say one")] }, finish("It is said.")),
      ...about("later words", { text: "A later answer." }),
    ]);
    id = await web.converse("begin");
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  async function share(body: object): Promise<Share> {
    return (await web.call("POST", `/api/conversations/${id}/shares`, body)) as Share;
  }

  /** Everything that the visitor's page gets, from its requests and its sockets. */
  function received(page: Page): () => Promise<string> {
    const texts: Promise<string>[] = [];
    page.on("response", (reply) => {
      if (reply.url().includes("/api/")) texts.push(reply.text().catch(() => ""));
    });
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => texts.push(Promise.resolve(String(payload)))),
    );
    return async () => (await Promise.all(texts)).join("\n");
  }

  const over = "This link does not work any more.";

  test("a link from the dialog shows the conversation, also what follows, and nothing to change it", async () => {
    const owner = await web.logInAt(`/c/${id}`);
    await expectStatus(owner, "done");
    await owner.getByRole("button", { name: "More" }).click();
    await owner.getByRole("menuitem", { name: "Share" }).click();
    const dialog = owner.getByRole("dialog");
    expect(await dialog.getByRole("checkbox", { name: /system prompt/ }).isChecked()).toBe(false);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const url = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    await owner.context().close();

    const page = await web.visit(url);
    await page.getByText("It is said.").waitFor();
    await page.getByText(/shared with you to read/).waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
    expect(await page.getByRole("navigation").count()).toBe(0);
    const buttons = await page.locator("header").getByRole("button").allInnerTexts();
    expect(buttons.join(" ")).not.toMatch(/Pause|Stop|Send|More/);
    expect(await violationsOf(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
    await takePictures(page, "shared", "phone");

    const message = { role: "user", content: [{ type: "text", text: "later words" }], run: true };
    await web.call("POST", `/api/conversations/${id}/events`, message);
    await page.getByText("A later answer.").waitFor();
    await page.getByRole("button", { name: "Download" }).click();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: /Transcript/ }).click();
    const file = await (await saving).path();
    expect(await readFile(file, "utf8")).toContain("A later answer.");
    expect(await page.getByRole("dialog").getByRole("listitem").count()).toBe(3);
    await page.context().close();
  });

  test("a link up to an event never gets what came later, on no way", async () => {
    const found = await web.call("GET", `/api/conversations/${id}/events/search?limit=100`);
    const { items } = found as Events;
    const later = items.findIndex(({ llm_message: message }) => message?.content[0]?.text === "later words");
    const { url } = await share({ up_to_event_id: items[later - 1]!.id });
    const page = await web.visit("about:blank", phone);
    const texts = received(page);
    await page.goto(url);
    await page.getByText("It is said.").waitFor();
    await page.getByText(/A part of this conversation is shared/).waitFor();
    await page.getByRole("button", { name: "Download" }).click();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: /Transcript/ }).click();
    const file = await readFile(await (await saving).path(), "utf8");
    expect(file).toContain("It is said.");
    expect(await sidewaysOf(page)).toBe(0);
    for (const text of [file, await texts(), await page.content()]) {
      expect(text).not.toContain("later words");
      expect(text).not.toContain("A later answer");
    }
    await page.context().close();
  });

  test("a revoked link ends at once in an open page; one that has expired shows nothing", async () => {
    const revoked = await share({});
    const page = await web.visit(revoked.url);
    await page.getByText("A later answer.").waitFor();
    await web.call("DELETE", `/api/conversations/${id}/shares/${revoked.id}`);
    await page.getByText(over).waitFor();
    expect(await page.getByText("A later answer.").count()).toBe(0);
    await page.context().close();

    const expired = await share({});
    using database = new DatabaseSync(path.join(web.place.folder, "data/application.sqlite"));
    database.prepare("UPDATE keys SET expires_at = 1 WHERE id = ?").run(expired.id);
    const late = await web.visit(expired.url);
    await late.getByText(over).waitFor();
    await late.context().close();
  });
});
