import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { McpServer } from "./mcp-server.ts";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("MCP servers in the page", () => {
  let web: WebBrowser;
  let notes: McpServer;

  beforeAll(async () => {
    notes = await McpServer.open();
    web = await WebBrowser.open([
      ...about("begin", { text: "Begun." }),
      ...about(
        "read",
        { tool_calls: [{ name: "read", arguments: { text: "all", summary: "read the notes" } }] },
        finish("The notes were read."),
      ),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await notes[Symbol.asyncDispose]();
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const panel = (page: Page) => page.getByRole("region", { name: "MCP servers" });

  test("J25: a server is added and tested, its failure is shown in its words, and it is reconnected", async () => {
    const page = await web.logInAt("/settings/mcp");
    await page.getByRole("textbox", { name: "Name" }).fill("notes");
    await page.getByRole("textbox", { name: "URL or command" }).fill(notes.url);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const entry = page.getByRole("listitem").filter({ hasText: notes.url });
    await entry.getByRole("button", { name: "Test" }).click();
    await entry.getByText("Tools: read, write").waitFor();
    notes.mode = "broken";
    await entry.getByRole("button", { name: "Test" }).click();
    await entry.getByText("it is broken").waitFor();

    const id = await web.converse("begin");
    await page.goto(`${web.url}/c/${id}`);
    await expectStatus(page, "done");
    const feed = page.getByRole("feed");
    await feed.getByText('The MCP server "notes" does not work').waitFor();
    expect(await feed.getByText("The agent continues without it.").count()).toBe(1);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "MCP servers" }).click();
    await panel(page).getByText("failed", { exact: true }).waitFor();
    await panel(page).getByText("it is broken").waitFor();
    expect(await violationsOf(page)).toEqual([]);

    notes.mode = "good";
    await panel(page).getByRole("button", { name: "Reconnect" }).click();
    await panel(page).getByText("connected", { exact: true }).waitFor();
    await panel(page).getByText("read, write").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Now read");
    await page.keyboard.press("Enter");
    await feed.getByText("The notes were read.").waitFor();
    expect(notes.calls).toEqual(["read"]);
    await page.context().close();
  });

  test("J25, U18, U20: on a phone, a server that wants a login", async () => {
    notes.mode = "closed";
    await web.call("POST", "/api/settings/mcp/locked", { url: notes.url });
    const id = await web.converse("begin");
    const page = await web.logInAt(`/c/${id}?panel=mcp`, phone);
    await panel(page).getByText("login required", { exact: true }).first().waitFor();
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  });
});
